//! A scripted teacher: a server on this machine that answers as model providers do, with faults.
//!
//! It speaks OpenAI's `chat/completions` and Anthropic's Messages, counts tokens and what a prompt cache
//! would have read, and keeps books of its own about every answer it made. A fault can come before an
//! answer is made, which costs nothing, or on the way back, which does not undo the cost. Not a model:
//! what it answers follows from the prompt. Test support only.

mod books;
mod http;
mod replies;
mod script;
mod server;

pub use books::{Books, Receipt};
pub use replies::Reply;
pub use script::{Faults, Idempotency, ReplyFn, Script};
pub use server::Server;
