//! As much of HTTP/1.1 as a test needs: requests with a length, on connections that stay open.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads the next request; none when the other side is gone.
pub(crate) fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let request = Request { path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body)?;
    Ok(Some(Request { body, ..request }))
}

/// The bytes of a response.
pub(crate) fn response(status: u16, headers: &[(&str, String)], body: &str) -> Vec<u8> {
    let mut out = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    out.push_str("\r\n");
    out.push_str(body);
    out.into_bytes()
}

/// Writes a response a byte at a time, until the client closes the connection.
pub(crate) fn drip(
    stream: &mut TcpStream,
    bytes: &[u8],
    pause: std::time::Duration,
) -> io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte])?;
        std::thread::sleep(pause);
    }
    Ok(())
}
