//! One reader per agent; each turns that agent's files into the same model.

pub mod claude_code;
