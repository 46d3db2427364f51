//! The seeds of the fuzz targets for packed files, configurations, histories, rendering and what git
//! prints: whole, cut and changed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;
#[path = "../../../fuzz/laws/config.rs"]
mod config;
#[path = "../../../fuzz/laws/edits.rs"]
mod edits;
#[path = "../../../fuzz/laws/git.rs"]
mod git;
#[path = "../../../fuzz/laws/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/laws/packed.rs"]
mod packed;
#[path = "../../../fuzz/laws/render.rs"]
mod render;

use common::seeds;
use mutate::mutated;

#[test]
fn packed_files_keep_the_laws() {
    mutated(&seeds("packed"), packed::packed);
}

#[test]
fn configurations_keep_the_laws() {
    mutated(&seeds("config"), config::config);
}

#[test]
fn histories_keep_the_laws() {
    mutated(&seeds("edits"), edits::edits);
}

#[test]
fn what_git_prints_keeps_the_laws() {
    mutated(&seeds("git"), git::git);
}

#[test]
fn shown_sessions_keep_the_laws() {
    seeds("render").iter().for_each(|seed| render::render(seed));
}
