//! The server: a thread for each connection.

use crate::books::{Books, Receipt};
use crate::http::{Request, drip, read, response};
use crate::replies::{Protocol, count, default_reply, hash, written};
use crate::script::{Fault, Idempotency, Script};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A teacher that listens.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    state: Mutex<State>,
    number: AtomicU64,
    closing: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    books: Books,
    caches: HashMap<String, HashSet<u64>>,
    answers: HashMap<String, String>,
}

impl Server {
    /// Starts a teacher at a free port.
    pub fn start(script: Script) -> io::Result<Server> {
        Server::listen(script, 0)
    }

    /// Starts a teacher at this port.
    pub fn listen(script: Script, port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let address = listener.local_addr()?;
        let number = AtomicU64::new(script.seed << 32);
        let closing = AtomicBool::new(false);
        let shared = Arc::new(Shared { script, state: Mutex::default(), number, closing });
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if theirs.closing.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&theirs);
                if let Ok(stream) = stream {
                    // Clients that are killed break off in the middle.
                    std::thread::spawn(move || shared.serve(stream).ok());
                }
            }
        });
        Ok(Server { address, shared })
    }

    /// `http://127.0.0.1:PORT/v1`
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The books as they are now.
    pub fn books(&self) -> Books {
        self.shared.lock().books.clone()
    }

    /// Requests so far.
    pub fn requests(&self) -> usize {
        self.shared.lock().books.receipts.len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut out = stream.try_clone()?;
        let mut stream = BufReader::new(stream);
        while let Some(request) = read(&mut stream)? {
            if !self.answer(&request, &mut out)? {
                break;
            }
        }
        Ok(())
    }

    /// Answers a request; false if the connection is to be closed.
    fn answer(&self, request: &Request, out: &mut TcpStream) -> io::Result<bool> {
        let began = Instant::now();
        let protocol = match request.path.as_str() {
            path if path.ends_with("/chat/completions") => Protocol::OpenAi,
            path if path.ends_with("/v1/messages") => Protocol::Anthropic,
            _ => return self.refuse(out, 404, "no such path"),
        };
        let given = match protocol {
            Protocol::OpenAi => {
                request.header("authorization").and_then(|value| value.strip_prefix("Bearer "))
            }
            Protocol::Anthropic => request.header("x-api-key"),
        };
        if self.script.key.is_some() && given != self.script.key.as_deref() {
            let given = given.unwrap_or_default();
            return self.refuse(out, 401, &format!("Incorrect API key provided: {given}"));
        }
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
            return self.refuse(out, 400, "no JSON");
        };
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = request.header("idempotency-key").unwrap_or_default().to_owned();
        let receipt = {
            let mut state = self.lock();
            state.books.receipts.push(Receipt {
                model: model.clone(),
                last_text: last_text(&body),
                idempotency_key: key.clone(),
                began,
                answered: None,
                headers: if self.script.keeps_bodies {
                    request.headers.clone()
                } else {
                    Vec::new()
                },
                body: if self.script.keeps_bodies {
                    String::from_utf8_lossy(&request.body).into_owned()
                } else {
                    String::new()
                },
            });
            state.books.receipts.len() - 1
        };
        std::thread::sleep(self.script.latency);
        let number = hash(self.number.fetch_add(1, Ordering::Relaxed));
        let fault = self.script.faults.at((number % 1_000) as u32);
        match fault {
            Some(Fault::TooMany) => {
                let value = if number.is_multiple_of(2) {
                    "0.02".to_owned()
                } else {
                    "Thu, 01 Jan 2026 00:00:00 GMT".to_owned()
                };
                let text = json!({"error": {"message": "too many requests"}}).to_string();
                out.write_all(&response(429, &[("retry-after", value)], &text))?;
                return Ok(true);
            }
            Some(Fault::Broken) => {
                let status = [500, 502, 503, 529][number as usize / 1_000 % 4];
                out.write_all(&response(status, &[], "upstream failed"))?;
                return Ok(true);
            }
            Some(Fault::HiddenError) => {
                let text =
                    json!({"error": {"code": 502, "message": "provider failed"}}).to_string();
                out.write_all(&response(200, &[], &text))?;
                return Ok(true);
            }
            Some(Fault::Closed) => return Ok(false),
            _ => {}
        }
        let text = self.reply(&key, &model, &body, protocol, receipt);
        let bytes = response(200, &[], &text);
        match fault {
            Some(Fault::Torn) => {
                out.write_all(bytes.get(..bytes.len() * 2 / 3).unwrap_or_default())?;
                Ok(false)
            }
            Some(Fault::Drip) => {
                drip(out, &bytes, Duration::from_millis(20))?;
                Ok(false)
            }
            Some(Fault::Garbled) => {
                out.write_all(&response(200, &[], "{\"choices\": [{\"mess"))?;
                Ok(true)
            }
            _ => {
                out.write_all(&bytes)?;
                Ok(true)
            }
        }
    }

    /// Makes an answer and charges for it, unless it was made before.
    fn reply(
        &self,
        key: &str,
        model: &str,
        body: &Value,
        protocol: Protocol,
        receipt: usize,
    ) -> String {
        let reply = match &self.script.reply {
            Some(reply) => reply(model, body),
            None => default_reply(body),
        };
        let mut state = self.lock();
        let honoured = self.script.idempotency == Idempotency::Honoured && !key.is_empty();
        if let Some(answer) = state.answers.get(key).filter(|_| honoured).cloned() {
            state.books.repeated += 1;
            return answer;
        }
        let cache = state.caches.entry(model.to_owned()).or_default();
        let mut tokens = count(model, body, protocol, cache);
        let (mut answer, written) = written(&reply, protocol);
        tokens.written = written;
        let rates = self.script.prices.get(model).copied().unwrap_or_default();
        let parts = [tokens.fresh, tokens.written, tokens.cached, tokens.cache_written];
        let cost: u128 = parts
            .iter()
            .zip(rates)
            .map(|(count, rate)| u128::from(*count) * u128::from(rate))
            .sum();
        answer["model"] = json!(model);
        answer["usage"] = match protocol {
            Protocol::OpenAi => {
                let read = tokens.fresh + tokens.cached;
                json!({"prompt_tokens": read, "completion_tokens": written,
                    "total_tokens": read + written,
                    "prompt_tokens_details": {"cached_tokens": tokens.cached}})
            }
            Protocol::Anthropic => json!({"input_tokens": tokens.fresh, "output_tokens": written,
                "cache_read_input_tokens": tokens.cached,
                "cache_creation_input_tokens": tokens.cache_written}),
        };
        if self.script.tells_cost {
            answer["usage"]["cost"] = json!(cost as f64 / 1e12);
        }
        let text = answer.to_string();
        *state.books.charged.entry(model.to_owned()).or_default() += cost;
        *state.books.answers.entry(model.to_owned()).or_default() += 1;
        if let Some(receipt) = state.books.receipts.get_mut(receipt) {
            receipt.answered = Some(Instant::now());
        }
        if honoured {
            state.answers.insert(key.to_owned(), text.clone());
        }
        text
    }

    fn refuse(&self, out: &mut TcpStream, status: u16, cause: &str) -> io::Result<bool> {
        self.lock().books.strange += 1;
        let text = json!({"error": {"message": cause}}).to_string();
        out.write_all(&response(status, &[], &text))?;
        Ok(true)
    }
}

/// The words of the last message.
fn last_text(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array);
    let content = messages.and_then(|messages| messages.last()?.get("content"));
    let text = match content {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    text.chars().take(200).collect()
}
