//! Secrets made from a seed, and the ways in which they may be written.

use backstory_testkit::base64;
use std::io::Write as _;
use std::ops::Range;

/// Numbers that follow from a seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn word(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        let mut word: String =
            (0..length).map(|_| char::from(letters[self.below(letters.len())])).collect();
        // A random word without digits may be no random word.
        if length >= 12 && letters.contains(&b'7') {
            for (at, digit) in [(3, "7"), (6, "2"), (9, "9")] {
                word.replace_range(at..at + 1, digit);
            }
        }
        word
    }
}

const ALL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A secret in a line that tells what it is.
#[derive(Debug, Clone)]
pub(crate) struct Secret {
    pub(crate) kind: &'static str,
    pub(crate) value: String,
    pub(crate) line: String,
}

impl Secret {
    fn place(&self) -> Range<usize> {
        let start = self.line.find(&self.value).unwrap();
        start..start + self.value.len()
    }
}

/// What stands before a secret, how it is made, and what stands behind it.
type Kind = (&'static str, &'static str, &'static str, &'static str, usize, &'static str);

/// Name, what stands before the secret, its beginning, its letters, how many, what stands behind it.
const KINDS: [Kind; 30] = [
    ("github", "export GITHUB_TOKEN=", "ghp_", ALL, 36, ""),
    (
        "github fine",
        "git remote set-url origin https://x:",
        "github_pat_",
        ALL,
        60,
        "@github.com/a/b",
    ),
    ("anthropic", "ANTHROPIC_API_KEY=", "sk-ant-api03-", ALL, 80, ""),
    ("openai", "OPENAI_API_KEY: ", "sk-proj-", ALL, 60, ""),
    ("aws id", "aws_access_key_id = ", "AKIA", CAPITALS, 16, ""),
    ("aws secret", "export AWS_SECRET_ACCESS_KEY=\"", "", ALL, 40, "\""),
    ("npm", "//registry.example.com/:_authToken=", "npm_", ALL, 36, ""),
    ("gitlab", "GITLAB_TOKEN=", "glpat-", ALL, 20, ""),
    ("slack", "SLACK_BOT_TOKEN=", "xoxb-123456789012-1234567890123-", ALL, 24, ""),
    ("stripe", "stripe.api_key = '", "sk_live_", ALL, 24, "'"),
    ("digitalocean", "doctl auth init -t ", "dop_v1_", HEX, 64, ""),
    ("hugging face", "HF_TOKEN=", "hf_", ALL, 34, ""),
    ("slack webhook", "curl -X POST https://hooks.slack.com/services/", "T", ALL, 34, ""),
    ("postgres", "DATABASE_URL=postgres://app:", "", ALL, 18, "@db.example.com:5432/app"),
    ("redis", "REDIS_URL=redis://:", "", ALL, 24, "@cache.example.com:6379/0"),
    ("password", "DB_PASSWORD=", "", ALL, 18, ""),
    ("password json", "{\"host\": \"db\", \"password\": \"", "", ALL, 18, "\"}"),
    ("password yaml", "password: ", "", ALL, 20, ""),
    ("client secret", "{\"client_secret\": \"", "", ALL, 32, "\"}"),
    ("api key", "api_key = \"", "", HEX, 32, "\""),
    ("secret key", "SECRET_KEY=", "", ALL, 50, ""),
    ("jwt secret", "JWT_SECRET=", "", ALL, 44, ""),
    ("bearer", "Authorization: Bearer ", "", ALL, 40, ""),
    ("cookie", "Cookie: sessionid=", "", HEX, 40, ""),
    ("option", "login --user app --password ", "", ALL, 22, ""),
    ("telegram", "TELEGRAM_TOKEN=123456789:AA", "", ALL, 33, ""),
    ("sendgrid", "SENDGRID_API_KEY=SG.abcdefghij0123456789ab.", "", ALL, 43, ""),
    ("access token", "\"access_token\":\"", "", ALL, 64, "\""),
    ("code", "const apiSecret = \"", "", ALL, 36, "\";"),
    ("variable", "PGPASSWORD=", "", ALL, 16, ""),
];

/// The secret with this number.
pub(crate) fn secret(number: usize, numbers: &mut Numbers) -> Secret {
    let (kind, before, head, letters, length, behind) = KINDS[number % KINDS.len()];
    let value = format!("{head}{}", numbers.word(letters, length));
    Secret { kind, line: format!("{before}{value}{behind}"), value }
}

/// A secret as it is written, and what of that would give it away.
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) traces: Vec<String>,
}

/// The ways to write a secret that redaction knows.
pub(crate) const ENCODINGS: [&str; 34] = [
    "plain",
    "base64",
    "base64 url-safe",
    "base64 unpadded",
    "base64 wrapped at 64",
    "base64 wrapped at 76",
    "base64 twice",
    "base64 of gzip",
    "hex",
    "hex capitals",
    "hex spaced",
    "hex escapes",
    "xxd",
    "hexdump -C",
    "unicode escapes",
    "url",
    "url twice",
    "url every letter",
    "entities",
    "entities every letter",
    "line continued",
    "literals with +",
    "literals in lines",
    "wrapped at 40",
    "wrapped in a frame",
    "csv",
    "markdown table",
    "psql table",
    "colour in value",
    "colour at name",
    "zero width in value",
    "spaced letters",
    "json in json 3",
    "json in json 5",
];

/// Half of it cannot be told from another line: halves in two lines count only for tokens with a form.
pub(crate) const NOT_COVERED: [&str; 2] = ["two lines", "reversed"];

/// Pieces of an encoded secret, each long enough to be of use.
fn pieces(encoded: &str, length: usize) -> Vec<String> {
    let all: Vec<char> = encoded.chars().collect();
    let whole = all.chunks(length).filter(|piece| piece.len() == length);
    whole.map(|piece| piece.iter().collect()).collect()
}

/// Writes every byte in its own way.
fn each(text: &str, write: impl Fn(u8) -> String) -> String {
    text.bytes().map(write).collect()
}

fn by_byte(secret: &Secret, before: &str, write: impl Fn(u8) -> String) -> Written {
    let unit = each("a", &write).len();
    let traces = pieces(&each(&secret.value, &write), 8 * unit);
    Written { text: format!("{before}{}", each(&secret.line, write)), traces }
}

/// Base64 of a text, and pieces of the letters that only the secret decides.
fn encoded(text: &str, place: Range<usize>) -> (String, Vec<String>) {
    let whole = base64(text.as_bytes());
    let sure = whole[place.start.div_ceil(3) * 4..place.end / 3 * 4].to_owned();
    (whole, pieces(&sure, 12))
}

fn wrapped(text: &str, width: usize, between: &str) -> String {
    let all: Vec<char> = text.chars().collect();
    let lines: Vec<String> = all.chunks(width).map(|line| line.iter().collect()).collect();
    lines.join(between)
}

/// The line with something put into the middle of its secret.
fn cut(secret: &Secret, with: &str) -> Written {
    let middle = secret.place().start + secret.value.len() / 2;
    let text = format!("{}{with}{}", &secret.line[..middle], &secret.line[middle..]);
    let halves = secret.value.split_at(secret.value.len() / 2);
    let traces = [halves.0, halves.1].iter().flat_map(|half| pieces(half, 8)).collect();
    Written { text, traces }
}

fn json_inside(text: &str, depth: usize) -> String {
    (0..depth).fold(text.to_owned(), |text, _| serde_json::json!({ "a": text }).to_string())
}

fn dump(text: &str, line: impl Fn(usize, &[u8]) -> String) -> String {
    let lines = text.as_bytes().chunks(16).enumerate();
    lines.map(|(number, bytes)| line(16 * number, bytes)).collect()
}

fn letters(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A secret written in a way.
pub(crate) fn written(secret: &Secret, encoding: &str) -> Written {
    let (line, value) = (secret.line.as_str(), secret.value.as_str());
    let file = format!("DEBUG=1\n{line}\nPORT=3000\n");
    let start = 8 + secret.place().start;
    let place = start..start + value.len();
    let plain = || pieces(value, 8);
    match encoding {
        "base64" => {
            let (text, traces) = encoded(&file, place);
            Written { text: format!("echo {text} | base64 -d"), traces }
        }
        "base64 url-safe" => {
            let (text, traces) = encoded(&file, place);
            Written { text: text.replace('+', "-").replace('/', "_"), traces }
        }
        "base64 unpadded" => {
            let (text, traces) = encoded(&file, place);
            Written { text: format!("data {}.", text.trim_end_matches('=')), traces }
        }
        "base64 wrapped at 64" | "base64 wrapped at 76" => {
            let (text, _) = encoded(&file, place.clone());
            let width = if encoding.ends_with("64") { 64 } else { 76 };
            let sure = place.start.div_ceil(3) * 4..place.end / 3 * 4;
            let marked = wrapped(&text, width, "\n");
            let lines = text.as_bytes().chunks(width).enumerate();
            let traces = lines.flat_map(|(number, line)| {
                let from = sure.start.saturating_sub(number * width).min(line.len());
                let to = sure.end.saturating_sub(number * width).min(line.len());
                pieces(&letters(&line[from..to]), 12)
            });
            Written { traces: traces.collect(), text: marked }
        }
        "base64 twice" => {
            let (once, _) = encoded(&file, place.clone());
            let sure = place.start.div_ceil(3) * 4..place.end / 3 * 4;
            let (text, traces) = encoded(&once, sure);
            Written { text, traces }
        }
        "base64 of gzip" => {
            let mut packer =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            packer.write_all(file.as_bytes()).unwrap();
            let text = base64(&packer.finish().unwrap());
            let traces = vec![text[text.len() / 2..text.len() / 2 + 16].to_owned()];
            Written { text, traces }
        }
        "hex" => by_byte(secret, "", |byte| format!("{byte:02x}")),
        "hex capitals" => by_byte(secret, "0x", |byte| format!("{byte:02X}")),
        "hex spaced" => by_byte(secret, "", |byte| format!("{byte:02x} ")),
        "hex escapes" => by_byte(secret, "", |byte| format!("\\x{byte:02x}")),
        "xxd" => {
            let shown = |at: usize, bytes: &[u8]| {
                let pairs: Vec<String> = bytes
                    .chunks(2)
                    .map(|pair| each(&letters(pair), |byte| format!("{byte:02x}")))
                    .collect();
                format!(
                    "{at:08x}: {:<39}  {}\n",
                    pairs.join(" "),
                    letters(bytes).replace('\n', ".")
                )
            };
            Written { text: dump(&file, shown), traces: dumped(&file, place, "", 2) }
        }
        "hexdump -C" => {
            let shown = |at: usize, bytes: &[u8]| {
                let halves: Vec<String> = bytes
                    .chunks(8)
                    .map(|half| each(&letters(half), |byte| format!("{byte:02x} ")))
                    .collect();
                format!(
                    "{at:08x}  {:<49} |{}|\n",
                    halves.join(" "),
                    letters(bytes).replace('\n', ".")
                )
            };
            Written { text: dump(&file, shown), traces: dumped(&file, place, " ", 1) }
        }
        "unicode escapes" => by_byte(secret, "", |byte| format!("\\u{byte:04x}")),
        "url" => {
            let text = each(line, percent);
            Written { text: format!("GET /find?q={text}&page=2"), traces: plain() }
        }
        "url twice" => {
            let text = each(&each(line, percent), percent);
            Written { text: format!("https://example.com/?next={text}"), traces: plain() }
        }
        "url every letter" => by_byte(secret, "q=", |byte| format!("%{byte:02X}")),
        "entities" => {
            let text = line.replace('&', "&amp;").replace('"', "&quot;").replace('\'', "&#x27;");
            Written { text: format!("<pre>{text}</pre>"), traces: plain() }
        }
        "entities every letter" => {
            let text = each(line, |byte| format!("&#{byte};"));
            Written { text, traces: pieces(&each(value, |byte| format!("&#{byte};")), 40) }
        }
        "line continued" => cut(secret, "\\\n"),
        "literals with +" => cut(secret, "\" + \""),
        "literals in lines" => cut(secret, "\"\n    \""),
        "wrapped at 40" => broken(secret, 40, "\n"),
        "wrapped in a frame" => {
            let mut written = broken(secret, 60, "\n  │ ");
            written.text.insert_str(0, "  │ ");
            written
        }
        "csv" => Written {
            text: format!("id,user,password,created\n1,app,{value},2026-01-01\n"),
            traces: plain(),
        },
        "markdown table" => Written {
            text: format!("| user | api_token |\n|---|---|\n| app | {value} |"),
            traces: plain(),
        },
        "psql table" => Written {
            text: format!(
                " id | user | secret_key\n----+------+------------\n  1 | app  | {value}\n(1 row)"
            ),
            traces: plain(),
        },
        "colour in value" => cut(secret, "\u{1b}[0m\u{1b}[32m"),
        "colour at name" => {
            let start = secret.place().start;
            let name = line[..start].trim_end_matches([' ', '=', '"', ':', '\'']).len();
            let text =
                format!("\u{1b}[01;31m\u{1b}[K{}\u{1b}[m\u{1b}[K{}", &line[..name], &line[name..]);
            Written { text, traces: plain() }
        }
        "zero width in value" => cut(secret, "\u{200b}"),
        "spaced letters" => by_byte(secret, "", |byte| format!("{} ", char::from(byte))),
        "json in json 3" => Written { text: json_inside(line, 3), traces: plain() },
        "json in json 5" => Written { text: json_inside(line, 5), traces: plain() },
        "two lines" => cut(secret, "\n"),
        "reversed" => {
            let reversed = |text: &str| text.chars().rev().collect::<String>();
            Written { text: reversed(line), traces: pieces(&reversed(value), 8) }
        }
        _ => Written { text: line.to_owned(), traces: plain() },
    }
}

fn percent(byte: u8) -> String {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    }
}

/// A line broken at a width, and what of its secret is on each of the lines.
fn broken(secret: &Secret, width: usize, between: &str) -> Written {
    let place = secret.place();
    let lines = secret.line.as_bytes().chunks(width).enumerate();
    let traces = lines.flat_map(|(number, line)| {
        let from = place.start.saturating_sub(number * width).min(line.len());
        let to = place.end.saturating_sub(number * width).min(line.len());
        pieces(&letters(&line[from..to]), 8)
    });
    Written { traces: traces.collect(), text: wrapped(&secret.line, width, between) }
}

/// What the lines of a dump show of a secret, in numbers and in letters.
fn dumped(file: &str, place: Range<usize>, between: &str, unit: usize) -> Vec<String> {
    let mut traces = Vec::new();
    for (number, line) in file.as_bytes().chunks(16).enumerate() {
        let from = place.start.saturating_sub(number * 16).min(line.len());
        let to = place.end.saturating_sub(number * 16).min(line.len());
        traces.extend(pieces(&letters(&line[from..to]), 8));
        // Numbers are put together from the beginning of their line, in halves.
        let first = from.next_multiple_of(8);
        if first + 8 <= to {
            let pairs: Vec<String> = line[first..first + 8]
                .chunks(unit)
                .map(|pair| each(&letters(pair), |byte| format!("{byte:02x}")))
                .collect();
            traces.push(pairs.join(if between.is_empty() { " " } else { between }));
        }
    }
    traces
}
