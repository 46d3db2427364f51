//! One attempt over HTTP, and what is known of it afterwards.
//!
//! What matters for money is whether a request may have been answered although nothing was heard of it.
//! Redirects are not followed: a key goes where the user said and nowhere else.

use crate::teacher::{Api, Teacher};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::http::uri::Authority;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error, Timeout};

/// The largest answer that is read.
const LARGEST: u64 = 64 << 20;
/// So long a name keeps the addresses that it had.
const ADDRESSES_LAST: Duration = Duration::from_secs(30);

/// A teacher's server.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// With a response, whatever it says.
    Response { status: u16, retry_after: Option<String>, body: Vec<u8> },
    /// Nothing was sent.
    NotSent(String),
    /// Something was sent and no whole answer came.
    Lost { timeout: bool, cause: String },
}

/// Certificates that this machine trusts.
pub(super) fn trusted() -> Arc<Vec<Certificate<'static>>> {
    let found = rustls_native_certs::load_native_certs();
    Arc::new(found.certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect())
}

impl Client {
    /// `key` is the value of the teacher's key.
    pub(super) fn new(
        teacher: &Teacher,
        key: Option<&str>,
        trusted: &Arc<Vec<Certificate<'static>>>,
    ) -> Client {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::clone(trusted)))
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(teacher.timeout))
            .timeout_connect(Some(teacher.timeout.min(Duration::from_secs(30))))
            .max_idle_connections(teacher.concurrency)
            .max_idle_connections_per_host(teacher.concurrency)
            .user_agent(concat!("backstory/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        let agent = Agent::with_parts(agent, DefaultConnector::default(), Remembering::default());
        let mut headers: Vec<(String, String)> =
            teacher.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        match (teacher.api, key) {
            (Api::OpenAi, Some(key)) => {
                headers.push(("authorization".to_owned(), format!("Bearer {key}")));
            }
            (Api::Anthropic, Some(key)) => headers.push(("x-api-key".to_owned(), key.to_owned())),
            (_, None) => {}
        }
        let versioned =
            headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("anthropic-version"));
        if teacher.api == Api::Anthropic && !versioned {
            headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
        }
        Client { agent, url: teacher.url(), headers }
    }

    pub(super) fn post(&self, body: &str, idempotency_key: &str) -> Ended {
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("idempotency-key", idempotency_key);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = match request.send(body) {
            Ok(response) => response,
            Err(error) => return classified(&error),
        };
        let status = response.status().as_u16();
        let retry_after = response.headers().get("retry-after");
        let retry_after = retry_after.and_then(|value| value.to_str().ok()).map(str::to_owned);
        match response.body_mut().with_config().limit(LARGEST).read_to_vec() {
            Ok(body) => Ended::Response { status, retry_after, body },
            Err(error) => match classified(&error) {
                Ended::NotSent(cause) => Ended::Lost { timeout: false, cause },
                ended => ended,
            },
        }
    }
}

/// Looks a name up once in a while and not for every call: that takes a thread each time, and asks the
/// name server even where a connection is open.
#[derive(Debug, Default)]
struct Remembering {
    inner: DefaultResolver,
    known: Mutex<Option<(Authority, Instant, ResolvedSocketAddrs)>>,
}

impl Resolver for Remembering {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((authority, since, addresses)) = &*known()
            && uri.authority() == Some(authority)
            && since.elapsed() < ADDRESSES_LAST
        {
            return Ok(addresses.clone());
        }
        let addresses = self.inner.resolve(uri, config, timeout)?;
        if let Some(authority) = uri.authority() {
            *known() = Some((authority.clone(), Instant::now(), addresses.clone()));
        }
        Ok(addresses)
    }
}

fn classified(error: &Error) -> Ended {
    let cause = error.to_string();
    match error {
        Error::HostNotFound
        | Error::ConnectionFailed
        | Error::BadUri(_)
        | Error::Http(_)
        | Error::Tls(_)
        | Error::InvalidProxyUrl
        | Error::Timeout(Timeout::Resolve | Timeout::Connect) => Ended::NotSent(cause),
        Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Ended::NotSent(cause)
        }
        // A handshake that failed.
        Error::Rustls(_) => Ended::NotSent(cause),
        Error::Io(error) if is_handshake(error) => Ended::NotSent(cause),
        Error::Timeout(_) => Ended::Lost { timeout: true, cause },
        Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
            Ended::Lost { timeout: true, cause }
        }
        _ => Ended::Lost { timeout: false, cause },
    }
}

fn is_handshake(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    inner.is_some_and(|inner| {
        matches!(
            inner,
            rustls::Error::InvalidCertificate(_)
                | rustls::Error::PeerIncompatible(_)
                | rustls::Error::NoCertificatesPresented
                | rustls::Error::UnsupportedNameType
        )
    })
}
