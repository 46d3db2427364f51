//! Why a fault of the format matters and what to do about it, for `check --explain`.

use backstory_format::ProblemId;

const READ_BY_2_1_325: &str = "2.1.325 reads the record all the same.";
const LOST_TO_2_1_325: &str = "2.1.325 skips the line and continues with the record before it.";
const NOTHING: &str = "Nothing needs to be done.";
const BACKUP: &str = "Take the record from a backup or a synchronised copy, if there is one.";
const SPLIT: &str = "Put each record on a line of its own to have them all in a resume.";

pub(super) fn explain_format(id: ProblemId) -> (&'static str, &'static str, &'static str) {
    match id {
        ProblemId::TornTail => (
            "The last record cannot be read, yet or ever.",
            "Live files end so for moments; files of clients that were killed end so for good.",
            "Check again if a client is at work.",
        ),
        ProblemId::TornLine => (
            "The record is lost, and records that name it as their parent lose their way.",
            LOST_TO_2_1_325,
            BACKUP,
        ),
        ProblemId::GluedRecords => (
            "Two writers met: the first record is lost, the second is lost to readers that parse whole lines.",
            LOST_TO_2_1_325,
            "Remove the fragment before the whole record.",
        ),
        ProblemId::SeveralRecords => (
            "The newline between two records was not written. Readers that parse whole lines lose what follows the first, or both.",
            "2.1.325 reads the first record of the line only.",
            SPLIT,
        ),
        ProblemId::NulBytes => {
            ("A crash or a full disk left a hole where records should be.", LOST_TO_2_1_325, BACKUP)
        }
        ProblemId::StrayBytes => (
            "These bytes belong to a record whose beginning is elsewhere or gone.",
            LOST_TO_2_1_325,
            BACKUP,
        ),
        ProblemId::InvalidJson => (
            "The record is lost to every reader.",
            LOST_TO_2_1_325,
            "Correct the line by hand, or take it from a backup.",
        ),
        ProblemId::ControlCharacter => (
            "JSON does not allow it, so that the record is lost to strict readers.",
            LOST_TO_2_1_325,
            "Write the character as an escape, such as \\u0001.",
        ),
        ProblemId::ByteOrderMark => (
            "An editor added it; readers that do not expect it lose the first record.",
            READ_BY_2_1_325,
            NOTHING,
        ),
        ProblemId::Utf16 => (
            "Nobody reads the file as a session.",
            "2.1.325 says \"No conversation found\".",
            "Convert it: iconv -f UTF-16 -t UTF-8.",
        ),
        ProblemId::InvalidUtf8 | ProblemId::LoneSurrogate => (
            "A character is broken and shown as U+FFFD. Strict readers lose the record.",
            "2.1.325 sends U+FFFD in its place.",
            NOTHING,
        ),
        ProblemId::DuplicateKey => (
            "Readers may disagree about which of the two values counts.",
            "2.1.325 takes the last, as this program does.",
            NOTHING,
        ),
        ProblemId::HugeNumber => (
            "The number is lost or changed by readers that use machine numbers.",
            "JavaScript, in which the client is written, rounds it.",
            NOTHING,
        ),
        ProblemId::TooDeep => (
            "Content nested so deep crashes many readers; it is kept but not inspected.",
            "No client was seen to write it.",
            "Look at the line by hand.",
        ),
        ProblemId::TooLong => (
            "The record was skipped.",
            "The limit protects memory.",
            "Read it with --max-record SIZE.",
        ),
        ProblemId::NotAnObject => (
            "A value that is not a record says nothing about the session.",
            "Seen in files made by hand only.",
            "Remove the line.",
        ),
        ProblemId::BareCarriageReturn => (
            "Old line endings make the whole file one line to most readers.",
            "2.1.325 reads the first record only.",
            SPLIT,
        ),
        ProblemId::NoFinalNewline => (
            "The next record will be appended to this line by clients that do not look.",
            "2.1.325 starts a new line; 2.0.76 to 2.1.232 do not, and spoil their next record.",
            "Add a newline at the end of the file before an older client resumes it.",
        ),
        ProblemId::MissingType => {
            ("Nobody can tell what the record is.", "Seen in files made by hand only.", NOTHING)
        }
        ProblemId::UnknownType => (
            "A newer client wrote it; it is kept and counted, not understood.",
            "Clients skip types that they do not know.",
            NOTHING,
        ),
        ProblemId::WrongShape => (
            "The field is treated as absent, so that something may be missing from what is shown.",
            "Proxies were seen to write messages of another shape.",
            NOTHING,
        ),
        ProblemId::BadTimestamp => (
            "The record has no time; it keeps its place in the file.",
            "All timestamps of real sessions have the form 2026-01-31T12:00:00.000Z.",
            NOTHING,
        ),
        ProblemId::DuplicateUuid => (
            "Links name records by uuid. A check tells copies (record-repeated) from different records (uuid-reused).",
            "Nearly all that were seen in real sessions are copies.",
            "See uuid-reused and record-repeated.",
        ),
        ProblemId::ParentCycle => (
            "Following the links never ends; readers that do not watch for it hang.",
            "2.1.50 and 2.1.325 resume it whole.",
            "Set `parentUuid` of the first record to null.",
        ),
        ProblemId::MissingParent => (
            "The way back to the beginning of the conversation is broken here.",
            "Up to 2.1.70 clients lose what came before; from 2.1.98 on they go on with the record before it in time, if that is at most five seconds older.",
            "Set `parentUuid` to the uuid of the last message before it.",
        ),
        ProblemId::ForeignSessionId => (
            "The records were copied from another session, as a resume or fork does.",
            "Common in healthy sessions.",
            NOTHING,
        ),
        ProblemId::OrphanCall => (
            "Nobody knows what the tool did.",
            "Clients from 2.1.50 on send such calls with an answer of their own, or not at all.",
            NOTHING,
        ),
        ProblemId::OrphanResult => (
            "Nobody knows what was asked.",
            "Clients from 2.1.50 on leave such results out; older ones are refused by the API.",
            "Remove the record and hang its children from its parent, or put the call back.",
        ),
        ProblemId::DuplicateCallId => (
            "Which result belongs to which call is ambiguous.",
            "2.1.325 keeps the first call and its result and drops the other.",
            "Give one call and its result another id.",
        ),
        ProblemId::DuplicateResult => {
            ("Only one result can answer a call.", "2.1.325 sends the first.", NOTHING)
        }
        ProblemId::ResultBeforeCall => (
            "The client wrote out of order; links still tell what belongs together.",
            "Seen in healthy sessions of 2.1.7x to 2.1.12x.",
            NOTHING,
        ),
        ProblemId::OddUsage => (
            "Totals of tokens leave the count out.",
            "No API counts so; something rewrote the record.",
            "Do not trust totals of this session.",
        ),
        ProblemId::UnreadFile => (
            "Turns, events or results that only that file holds are not told.",
            "Only sessions of other agents are spread over files that need each other.",
            "Put the file back, or make it readable.",
        ),
    }
}
