//! Secrets that other programs let through.

/// Each is a text and the part of it that must not stay.
pub(crate) const LEAKS: [(&str, &str); 35] = [
    ("DB_PASSWORD=xK9q&mQ2vLp7", "mQ2vLp7"),
    ("login username=bob password=Tr0ub4dor&3x now", "3x now"),
    ("db:\n  password: xK9q|mQ2vLp7 # of the old one", "mQ2vLp7"),
    (
        "service-token-0024a29224affe29d173c0bf99e5a89d1f6b3e7720c4d85590ab13ce7f48d2610024a29224affe29d173c0bf99e5a89d1f6b3e77",
        "99e5a89d1f6b3e77",
    ),
    ("Server=host;User Id=app;Password=sesame;Database=app;", "sesame"),
    (
        "aws_secret_access_key = wJalr/UtnFEMI7K+MDENGbPxRfiCYq3zLp0dKs9T",
        "wJalr/UtnFEMI7K+MDENGbPxRfiCYq3zLp0dKs9T",
    ),
    ("token glpat-zQx9sgtrfAxKr8q1TPY8", "glpat-zQx9sgtrfAxKr8q1TPY8"),
    (
        "sbp_9f2c7d41aa03be5587c1d0e6f4b29a837c55d1e0",
        "sbp_9f2c7d41aa03be5587c1d0e6f4b29a837c55d1e0",
    ),
    (
        "https://hooks.slack.com/services/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",
        "nzk0zace5iLKP35eWcfKE7JA",
    ),
    ("SK5e1f9b3d7a2c4e6f8091a2b3c4d5e6f7", "SK5e1f9b3d7a2c4e6f8091a2b3c4d5e6f7"),
    ("DB_PASSWORD=hunter2pass", "hunter2pass"),
    ("machine api.example.com login me password q8Zr41xk", "q8Zr41xk"),
    ("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", "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"),
    ("xapp-1-A02BCDEF34-083452001657-shAYwge87H4lC3j7lZ48pAL", "shAYwge87H4lC3j7lZ48pAL"),
    (
        "SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5cr",
        "TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5cr",
    ),
    ("dckr_pat_q8yKET1VDJTpfCwseUDzT8vFhXk", "dckr_pat_q8yKET1VDJTpfCwseUDzT8vFhXk"),
    ("whsec_Zx81kQpLm20sVbnRt5Wc64GhKq7Dd93", "whsec_Zx81kQpLm20sVbnRt5Wc64GhKq7Dd93"),
    (
        "AccountName=a;AccountKey=lJzRc1YdHaAA2KCNJJ1tkYwF/mKK6Ygw0NGe170Xu592euJv2wYUtBlV8zqnlcNQSnIYVTkLWntUO1F8j8rQ==;",
        "lJzRc1YdHaAA2KCNJJ1tkYwF/mKK6Ygw0NGe170Xu592euJv2wYUtBlV8zqnlcNQSnIYVTkLWntUO1F8j8rQ",
    ),
    ("TWILIO_AUTH_TOKEN=9f2c7d41aa03be5587c1d0e6f4b29a83", "9f2c7d41aa03be5587c1d0e6f4b29a83"),
    ("4839574813:AAE4A6Rz0CSnIGzeu897OjQnjzsMEG2xuso", "AAE4A6Rz0CSnIGzeu897OjQnjzsMEG2xuso"),
    ("Cookie: theme=dark; session=s3Aj28dK2m3Lw9qXz81", "s3Aj28dK2m3Lw9qXz81"),
    ("Authorization: Basic cXFmal9xa3h0ZDpkaWZjX3lubGRq", "cXFmal9xa3h0ZDpkaWZjX3lubGRq"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAvcMVMB2vEbqI6PlSNJ4H\nrLte2zycDIZ8gRZ1BbArW0IcEhtd10pF\n-----END RSA PRIVATE KEY-----",
        "rLte2zycDIZ8gRZ1BbArW0IcEhtd10pF",
    ),
    (
        r#""private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n""#,
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    ),
    (
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIFDjBABgkqhkiG9w0BBQ0wMzAbBgkq\n-----END ENCRYPTED PRIVATE KEY-----",
        "MIIFDjBABgkqhkiG9w0BBQ0wMzAbBgkq",
    ),
    (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\nand then the output was cut",
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUA",
    ),
    (
        "@app.route('/x')\ndef x():\n    key = 'sk-ant-api03-Zx81kQpLm20sVbnRt5Wc64GhKq7Dd93fJ'",
        "sk-ant-api03-Zx81kQpLm20sVbnRt5Wc64GhKq7Dd93fJ",
    ),
    (
        "@property\ndef f(self): return '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'",
        "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",
    ),
    ("postgres://app:q9V7nB2K4xL8@db/app", "q9V7nB2K4xL8"),
    ("AKIA5XQ8ZKJ2MTR7PLW3", "AKIA5XQ8ZKJ2MTR7PLW3"),
    ("key sk-live-Zx81kQpLm20sVbnRt5Wc64Gh", "sk-live-Zx81kQpLm20sVbnRt5Wc64Gh"),
    (
        "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",
        "9f2c7d41aa03be5587c1d0e6f4b29a837c55d1e09f2c7d41aa03be5587c1d0e6",
    ),
    ("ALTER USER app WITH PASSWORD 'q9V7nB2K4xL8'", "q9V7nB2K4xL8"),
    (
        "sk-proj-Zx81kQpLm20sVbnRt5Wc64GhKq7Dd93fJq8yKET1VDJTpfCwseUDzT8v",
        "Zx81kQpLm20sVbnRt5Wc64GhKq7Dd93fJq8yKET1VDJTpfCwseUDzT8v",
    ),
    ("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", "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"),
];
