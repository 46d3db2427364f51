//! Teachers as `.backstory.toml` describes them.
//!
//! A teacher names the variable that holds its key, never the key. Unknown fields are errors: a
//! price that is misspelt must not become no price.

pub use crate::api::Api;
use crate::price::{Price, PriceTable};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// Whether a server answers a call that it has answered before without charging again, when it
/// comes with the same `Idempotency-Key`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// It may be charged again: what became of a lost call is unknown.
    Charged,
    /// It is not charged again.
    Free,
}

/// Whether a teacher may call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tools {
    /// It gets the tool definitions.
    Offered,
    /// It gets no definitions and answers in text.
    Withheld,
}

/// A model that is asked.
#[derive(Debug, Clone)]
pub struct Teacher {
    /// The name in the settings.
    pub id: String,
    /// The protocol.
    pub api: Api,
    /// Where the API is.
    pub base_url: String,
    /// The model to ask.
    pub model: String,
    /// The variable that holds the key; none for a server that wants none.
    pub api_key_env: Option<String>,
    /// Further headers of requests.
    pub headers: BTreeMap<String, String>,
    /// The most tokens of an answer.
    pub max_tokens: u64,
    /// The field that carries `max_tokens`.
    pub max_tokens_name: String,
    /// The temperature, if one is set.
    pub temperature: Option<f64>,
    /// Whether tools are offered.
    pub tools: Tools,
    /// Calls at the same time.
    pub concurrency: usize,
    /// Calls a minute.
    pub rpm: Option<u64>,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// The first wait before a call is tried again, about.
    pub backoff: Duration,
    /// Whether a repeated call is charged again.
    pub repeats: Repeats,
    /// Further fields of the request.
    pub body: Map<String, Value>,
    /// The price of its tokens.
    pub price: Price,
}

/// Why teachers cannot be used.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum TeacherError {
    #[error("{0}")]
    Toml(String),
    #[error("teacher `{0}`: {1}")]
    Teacher(String, String),
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    teacher: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    #[serde(default = "openai")]
    kind: Api,
    base_url: String,
    model: String,
    api_key_env: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default = "max_tokens")]
    max_tokens: u64,
    max_tokens_name: Option<String>,
    temperature: Option<f64>,
    #[serde(default = "yes")]
    tools: bool,
    #[serde(default = "concurrency")]
    concurrency: usize,
    rpm: Option<u64>,
    #[serde(default = "timeout")]
    timeout: f64,
    #[serde(default = "backoff")]
    backoff: f64,
    #[serde(default)]
    idempotent: bool,
    #[serde(default)]
    body: Map<String, Value>,
    price: Option<PriceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

fn openai() -> Api {
    Api::OpenAi
}

fn yes() -> bool {
    true
}

fn max_tokens() -> u64 {
    2048
}

fn concurrency() -> usize {
    4
}

fn timeout() -> f64 {
    180.0
}

fn backoff() -> f64 {
    1.0
}

/// More threads than this do not help.
const MOST_AT_ONCE: usize = 512;

/// The teachers of a `.backstory.toml`; prices that it does not give are looked up.
pub fn parse_teachers(text: &str, prices: &PriceTable) -> Result<Vec<Teacher>, TeacherError> {
    let file: File = toml::from_str(text).map_err(|error| TeacherError::Toml(error.to_string()))?;
    let mut teachers: Vec<Teacher> = Vec::new();
    for entry in file.teacher {
        let id = entry.id.clone();
        let wrong = |cause: &str| TeacherError::Teacher(id.clone(), cause.to_owned());
        if teachers.iter().any(|teacher| teacher.id == entry.id) {
            return Err(wrong("there are two of this id"));
        }
        teachers.push(entry.read(prices).map_err(|cause| wrong(&cause))?);
    }
    Ok(teachers)
}

/// Whether a file of settings speaks of teachers, in whatever form.
pub fn names_teachers(text: &str) -> bool {
    toml::from_str::<toml::Table>(text).is_ok_and(|file| file.contains_key("teacher"))
}

/// Whether an address is of this machine, so that nothing sent there can be overheard.
fn is_loopback(base_url: &str) -> bool {
    let rest = base_url.strip_prefix("http://").unwrap_or(base_url);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split_once(']').map_or("", |(host, _)| host),
        None => authority.split(':').next().unwrap_or_default(),
    };
    // `user@host` is another host with a misleading name before it.
    !authority.contains('@')
        && (host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()))
}

impl Entry {
    fn read(self, prices: &PriceTable) -> Result<Teacher, String> {
        if self.id.is_empty() || self.model.is_empty() {
            return Err("id and model must not be empty".to_owned());
        }
        if !(self.base_url.starts_with("https://") || self.base_url.starts_with("http://")) {
            return Err("base_url begins with https:// or http://".to_owned());
        }
        if self.base_url.starts_with("http://") && !is_loopback(&self.base_url) {
            return Err("base_url: http:// is for this machine only; write https://".to_owned());
        }
        if self.concurrency == 0 || self.concurrency > MOST_AT_ONCE {
            return Err(format!("concurrency is a number from 1 to {MOST_AT_ONCE}"));
        }
        if self.rpm == Some(0) || self.max_tokens == 0 {
            return Err("rpm and max_tokens are at least 1".to_owned());
        }
        let seconds = |name: &str, value: f64| match Duration::try_from_secs_f64(value) {
            Ok(time) if !time.is_zero() && value <= 86_400.0 => Ok(time),
            _ => Err(format!("{name} is a number of seconds up to 86400")),
        };
        let secret = |name: &str| {
            let name = name.to_ascii_lowercase();
            name == "authorization" || name == "x-api-key" || name == "cookie"
        };
        if let Some(name) = self.headers.keys().find(|name| secret(name)) {
            return Err(format!("headers: `{name}` is set from the variable in api_key_env"));
        }
        let price = match &self.price {
            Some(price) => Price::given(
                self.kind,
                [Some(price.input), Some(price.output), price.cache_read, price.cache_write],
            )
            .ok_or("a price is a number of dollars for a million tokens, from 0 to 1,000,000")?,
            None => prices.of(&self.model),
        };
        Ok(Teacher {
            api: self.kind,
            base_url: self.base_url.trim_end_matches('/').to_owned(),
            max_tokens_name: self.max_tokens_name.unwrap_or_else(|| "max_tokens".to_owned()),
            tools: if self.tools { Tools::Offered } else { Tools::Withheld },
            timeout: seconds("timeout", self.timeout)?,
            backoff: seconds("backoff", self.backoff)?,
            repeats: if self.idempotent { Repeats::Free } else { Repeats::Charged },
            id: self.id,
            model: self.model,
            api_key_env: self.api_key_env,
            headers: self.headers,
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            concurrency: self.concurrency,
            rpm: self.rpm,
            body: self.body,
            price,
        })
    }
}

impl Teacher {
    /// Where calls go.
    pub fn url(&self) -> String {
        match self.api {
            Api::OpenAi => format!("{}/chat/completions", self.base_url),
            Api::Anthropic if self.base_url.ends_with("/v1") => {
                format!("{}/messages", self.base_url)
            }
            Api::Anthropic => format!("{}/v1/messages", self.base_url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Teacher>, String> {
        parse_teachers(text, &PriceTable::none()).map_err(|error| error.to_string())
    }

    #[test]
    fn teachers_are_read_and_faults_named() {
        let plain = "[[teacher]]\nid='a'\nmodel='m'\nbase_url='http://localhost:1/v1/'\n";
        let teachers = read(&format!("[redact]\nallow=[]\n{plain}")).unwrap();
        assert_eq!(teachers[0].url(), "http://localhost:1/v1/chat/completions");
        assert!(matches!(teachers[0].price, Price::Unknown));
        let anthropic = read(&format!("{plain}kind='anthropic'")).unwrap();
        assert_eq!(anthropic[0].url(), "http://localhost:1/v1/messages");
        for (more, cause) in [
            ("prize=1", "unknown field"),
            ("concurrency=0", "concurrency"),
            ("price={input=-1, output=1}", "price"),
            ("headers={Authorization='x'}", "api_key_env"),
            ("timeout=0", "timeout"),
            ("kind='telepathy'", "kind"),
        ] {
            let error = read(&format!("{plain}{more}")).unwrap_err();
            assert!(error.contains(cause), "{more}: {error}");
        }
        for (url, fine) in [
            ("http://127.0.0.1:8080/v1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:8080/v1", true),
            ("http://LOCALHOST/v1", true),
            ("https://api.example.com", true),
            ("http://api.example.com/v1", false),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("http://localhost@example.com", false),
            ("http://localhost:x@example.com/", false),
            ("http://example.com/localhost", false),
            ("http://example.com\\@localhost", false),
            ("http://10.0.0.1", false),
            ("http://[::ffff:1.2.3.4]", false),
            ("http://", false),
        ] {
            let text = format!("[[teacher]]\nid='a'\nmodel='m'\nbase_url='{url}'\n");
            assert_eq!(read(&text).is_ok(), fine, "{url}");
        }
        assert!(names_teachers(plain) && !names_teachers("[redact]"));
        assert!(read(&format!("{plain}{plain}")).unwrap_err().contains("two of this id"));
    }
}
