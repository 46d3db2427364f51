//! What a secret is in plain text, by class: the place tells, whatever the value looks like.

use crate::support::redactor;

/// Each text holds the value; none of it may stay.
fn gone(cases: &[(&str, &str)]) {
    let redactor = redactor();
    let kept: Vec<String> = cases
        .iter()
        .map(|(text, value)| {
            assert!(text.contains(value), "{text}");
            (redactor.session().scrub(text).into_owned(), value)
        })
        .filter(|(cleared, value)| cleared.contains(**value))
        .map(|(cleared, _)| cleared)
        .collect();
    assert!(kept.is_empty(), "{kept:#?}");
}

fn stays(texts: &[&str]) {
    let redactor = redactor();
    for text in texts {
        assert_eq!(redactor.session().scrub(text), *text);
    }
}

#[test]
fn comparisons_show_the_value() {
    gone(&[
        (r#"if (password !== "vT7#kq2LmZ") {"#, "vT7#kq2LmZ"),
        (r#"if password != "vT7#kq2LmZ":"#, "vT7#kq2LmZ"),
        (r#"if (password.equals("vT7#kq2LmZ")) {"#, "vT7#kq2LmZ"),
        (r#""vT7#kq2LmZ".equals(user.password)"#, "vT7#kq2LmZ"),
        (r#"expect(adminPassword).toBe("vT7#kq2LmZ")"#, "vT7#kq2LmZ"),
        (r#"if ("vT7#kq2LmZ" === password)"#, "vT7#kq2LmZ"),
    ]);
    stays(&[
        r#"if (password !== "") {"#,
        "if (password !== confirmation) {",
        "password.equals(other)",
        r#"if (status === "ready2024now") {"#,
        r#""test".equals(name)"#,
    ]);
}

#[test]
fn fallbacks_show_the_value() {
    gone(&[
        (r#"PASSWORD = os.environ.get("PASSWORD") or "vT7kq2LmZ!""#, "vT7kq2LmZ!"),
        (r#"const dbPassword = process.env.DB_PASSWORD ?? "vT7kq2LmZ""#, "vT7kq2LmZ"),
        (r#"password: process.env.X || 'vT7kq2LmZ',"#, "vT7kq2LmZ"),
        (r#"password = os.getenv("X", "vT7kq2LmZ")"#, "vT7kq2LmZ"),
        (r#"secret_key = ENV.fetch('X', 'b81f0c7793de4a52a6c1')"#, "b81f0c7793de4a52a6c1"),
        (r#"api_key = config.get("x", "b81f0c7793de4a52a6c1")"#, "b81f0c7793de4a52a6c1"),
        ("DB_PASSWORD=${DB_PASSWORD:-vT7kq2LmZ}", "vT7kq2LmZ"),
        ("password: ${DB_PASSWORD:vT7kq2LmZ}", "vT7kq2LmZ"),
        (r#"@Value("${db.password:vT7kq2LmZ}")"#, "vT7kq2LmZ"),
        ("password = x ? x : 'vT7kq2LmZ'", "vT7kq2LmZ"),
        ("password = cfg['x'] if cfg else 'vT7kq2LmZ'", "vT7kq2LmZ"),
        (r#"let password = env::var("X").unwrap_or("vT7kq2LmZ".into());"#, "vT7kq2LmZ"),
        (r#"password: "{{ lookup('env', 'X') | default('vT7kq2LmZ') }}""#, "vT7kq2LmZ"),
    ]);
    stays(&[
        r#"password = os.getenv("DB_PASSWORD", "")"#,
        "password: process.env.PASSWORD || 'password',",
        "PASSWORD=${DB_PASSWORD:-$OTHER}",
        r#"mode = os.getenv("MODE", "production")"#,
        "const token = process.env.TOKEN ?? ''",
    ]);
}

#[test]
fn values_are_found_through_the_layout_of_their_language() {
    gone(&[
        (r#"<entry key="db_password">vT7kq2LmZ</entry>"#, "vT7kq2LmZ"),
        ("<key>password</key>\n<string>vT7kq2LmZ</string>", "vT7kq2LmZ"),
        ("password: |-\n  vT7kq2LmZ", "vT7kq2LmZ"),
        ("password: !!str vT7kq2LmZ", "vT7kq2LmZ"),
        ("- **Password:** vT7kq2LmZ", "vT7kq2LmZ"),
        ("password.........: vT7kq2LmZ", "vT7kq2LmZ"),
        ("[password] = 'vT7kq2LmZ'", "vT7kq2LmZ"),
        ("find_by_name('password').send_keys('vT7kq2LmZ')", "vT7kq2LmZ"),
        ("fill_in 'password', with: 'vT7kq2LmZ'", "vT7kq2LmZ"),
        (r#"assertEquals("vT7kq2LmZ", password);"#, "vT7kq2LmZ"),
        (r#"const PASSWORD: &str = "vT7kq2LmZ";"#, "vT7kq2LmZ"),
        (r#"char password[] = "vT7kq2LmZ";"#, "vT7kq2LmZ"),
    ]);
    stays(&[
        r#"<label for="password">Password</label>"#,
        "<key>password</key>\n<string>required</string>",
        "password: |\n",
        "password...",
        "[password] = value",
    ]);
}

#[test]
fn words_with_digits_and_signs_are_passwords_in_their_place() {
    gone(&[
        ("app_admin_password = Harvest12345", "Harvest12345"),
        ("'password' => '#Flower040',", "#Flower040"),
        ("  password: Tiger2031!", "Tiger2031!"),
        ("DB_PASSWORD=$Summer2031", "$Summer2031"),
        (r#"{"password": "Secret123"}"#, "Secret123"),
    ]);
    stays(&[
        r#"{"password": "password123"}"#,
        "password = sha256",
        "password: test_user_2024",
        "password: $password1",
        "password = item_042",
    ]);
}

#[test]
fn a_password_may_hold_the_signs_of_a_template() {
    gone(&[
        ("DB_PASSWORD=q7Rw2k%sLp9Kd4", "q7Rw2k"),
        (r#""password": "vX3kTe{{x}}m8QzY1""#, "vX3kTe"),
        ("password = 'aB3dE5...fG7hJ9'", "aB3dE5"),
        ("<password>pQ8wR2***tY5uI1</password>", "pQ8wR2"),
        ("postgres://u:kd8WqT${x}4ZtRb2@h/db", "kd8WqT"),
        ("mysql -u root -p'hZ4nVx<x>c9KmT3'", "hZ4nVx"),
        (r#""password": "wexample7Kd2Qz""#, "wexample7Kd2Qz"),
        (r#"password: "q7-Rw2 kLp9x Zt4""#, "q7-Rw2 kLp9x Zt4"),
    ]);
    stays(&[
        r#""password": "{{ db_password }}""#,
        "password = '${DB_PASSWORD}'",
        r#"password: "%s""#,
        r#"url = "postgres://%s:%s@%s/%s""#,
        "password: ********",
        r#""password": "must have 8 characters""#,
        r#"password = "prefix_${name}""#,
    ]);
}

#[test]
fn commands_hold_passwords_after_their_own_flags() {
    gone(&[
        ("mysql -h db -u app -p'vT7kq2LmZ9' -e x", "vT7kq2LmZ9"),
        ("sqlcmd -S db -U sa -P vT7kq2LmZ9!", "vT7kq2LmZ9!"),
        ("smbclient //h/s -U app%vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("mongo -u a -p vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("echo vT7kq2LmZ9 | sudo -S ls", "vT7kq2LmZ9"),
        ("echo vT7kq2LmZ9 | docker login -u a --password-stdin", "vT7kq2LmZ9"),
        ("unzip -P vT7kq2LmZ9 a.zip", "vT7kq2LmZ9"),
        ("http -a app:vT7kq2LmZ9 GET x", "vT7kq2LmZ9"),
        ("chpasswd <<< root:vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("useradd -p vT7kq2LmZ9 app", "vT7kq2LmZ9"),
        ("net user app vT7kq2LmZ9 /add", "vT7kq2LmZ9"),
        ("vault kv put secret/x value=vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("gh secret set NAME -b vT7kq2LmZ9Xz", "vT7kq2LmZ9Xz"),
        ("snowsql -a x -u y -p vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("ssh-keygen -N vT7kq2LmZ9", "vT7kq2LmZ9"),
        (r#"expect "assword:"; send "vT7kq2LmZ9\r""#, "vT7kq2LmZ9"),
        (r#"curl -u ":vT7kq2LmZ9" https://localhost:9200"#, "vT7kq2LmZ9"),
        ("sqlplus app/vT7kq2LmZ9@//db:1521/XE", "vT7kq2LmZ9"),
        ("db.example.com:5432:app:svc:vT7kq2LmZ9", "vT7kq2LmZ9"),
    ]);
    stays(&[
        "docker run -p 8080:80 nginx",
        "ssh -p 2222 user@host",
        "mkdir -p src/components",
        "git log -p src/main.rs",
        "unzip -p a.zip file.txt",
        "echo hello | sudo tee /etc/x",
        "echo $PASS | sudo -S ls",
        "net user app /delete",
        "vault kv get secret/x",
        "ssh-keygen -t rsa -N '' -f key",
        "mysql -u root -p shop",
        "grep -P 'a+' file",
    ]);
}

#[test]
fn calls_hold_secrets_in_their_arguments() {
    let key = "q7Rw2kLp9KdXz4Tn8VbMc1Yf6Hs0Gj5A";
    for call in [
        "cohere.Client(\"KEY\")",
        "Client(account_sid, 'KEY')",
        "bot.run('KEY')",
        "Fernet(b'KEY')",
        "jwt.sign(payload, 'KEY')",
        "createClient('https://x.example.co', 'KEY')",
        "new Sonar(\"KEY\")",
    ] {
        gone(&[(&call.replace("KEY", key), key)]);
    }
    gone(&[
        ("smtp.login(\"app\", \"Summer2031\")", "Summer2031"),
        ("FTP('h', 'app', 'vT7kq2LmZ9')", "vT7kq2LmZ9"),
        ("b64encode(b'app:vT7kq2LmZ9')", "vT7kq2LmZ9"),
        ("sonar.login', 'b81f0c7793de4a52a6c1b81f0c7793de4a52a6c1", "b81f0c7793de4a52"),
    ]);
    stays(&[
        "cohere.Client(api_key)",
        "login(user, password)",
        "authenticate('local', opts)",
        "jwt.sign(payload, secret)",
        "btoa('hello world')",
        "app.run('0.0.0.0')",
    ]);
}

#[test]
fn sentences_show_the_value() {
    gone(&[
        ("password for master:Harvest58", "Harvest58"),
        ("The password for the staging db is vT7kq2LmZ9.", "vT7kq2LmZ9"),
        ("I set the root password to vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("use vT7kq2LmZ9 as the password", "vT7kq2LmZ9"),
        ("login with app / vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("credentials are app:Tiger2031!", "Tiger2031!"),
        ("Login app pass vT7kq2LmZ9", "vT7kq2LmZ9"),
        ("Unseal Key 2: q7Rw2kLp9KdXz4Tn8VbMc1Yf6Hs0Gj5Ae3Uo2Wi7Qk=", "q7Rw2kLp9KdXz4Tn8V"),
    ]);
    stays(&[
        "the password for the user is checked first",
        "[sudo] password for user:",
        "change the password to something else",
        "use it as the password",
        "log in as admin, then open the page",
        "credentials are stored in config/app.yml",
        "the user name and password fields",
    ]);
}

#[test]
fn json_in_a_string_with_a_secret_name_is_searched() {
    let sig = "427e6803b78311e68afd0242ac130117";
    let text = format!(r#""Apitoken": "{{\"name\":\"root\",\"sig\":\"{sig}\"}}","#);
    gone(&[(&text, sig)]);
    let mut scrubber = redactor().session();
    let inside = format!(r#"{{"name":"root","sig":"{sig}"}}"#);
    scrubber.learn_field("apiToken", &inside);
    assert!(!scrubber.scrub_field("apiToken", &inside).contains(sig));
    stays(&[r#""payload": "{\"name\":\"root\",\"id\":\"427e6803b78311e68afd0242ac130117\"}","#]);
}

#[test]
fn every_value_of_a_kubernetes_secret_goes() {
    gone(&[
        (
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  foo: cTdSdzJrTHA5S2RYejRUbg==\n",
            "cTdSdzJrTHA5S2RYejRUbg==",
        ),
        ("stringData:\n  database-url: vT7kq2LmZ9\n", "vT7kq2LmZ9"),
    ]);
    stays(&[
        "kind: ConfigMap\ndata:\n  region: eu-west-1\n",
        "kind: Secret\nmetadata:\n  name: app\n",
        "secretKeyRef:\n  name: db\n  key: password",
    ]);
}
