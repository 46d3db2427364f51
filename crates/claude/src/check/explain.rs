//! Why a finding of the check matters and what to do about it, for `check --explain`.
//!
//! What clients do was measured: session files with one fault each were resumed with released
//! clients, offline, and what they sent was recorded.

use super::explain_format::explain_format;
use super::ids::{CheckId, Id};

/// The long form of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// Why it matters.
    pub why: &'static str,
    /// What is known, and how.
    pub evidence: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

impl Id {
    /// The long form of this id.
    pub fn explain(self) -> Explanation {
        let (why, evidence, remedy) = match self {
            Id::Format(id) => explain_format(id),
            Id::Check(id) => explain_check(id),
        };
        Explanation { why, evidence, remedy }
    }
}

type Texts = (&'static str, &'static str, &'static str);

const RESUME_ANYWAY: &str = "Nothing needs to be done.";
const RESUME_NEWEST: &str = "Resume with the newest client.";
const RESTORE: &str = "Put the record back from a backup or from the tool that removed it, or resume and tell the model what is missing.";

fn explain_check(id: CheckId) -> Texts {
    match id {
        CheckId::ResultWithoutCall => (
            "The API takes a tool result only in the message right after the call. The content of the result is lost.",
            "1.0.100 and 2.0.76 send it as it is, and the API refuses the whole conversation; from 2.1.50 on clients leave the result out.",
            "Put the call back before the result, or remove the result too. Editors of sessions must treat the two as one.",
        ),
        CheckId::CallWithoutResult => (
            "The API wants the results of all calls of a message together in the next one. A later result is lost.",
            "1.0.100 and 2.0.76 send it as it is, and the API refuses the conversation; from 2.1.50 on clients answer such a call themselves (\"Tool result missing due to internal error\"), or leave it out when the message holds nothing else.",
            "Move the result to where it belongs. A call that never had a result needs nothing with a client of 2.1.50 or later.",
        ),
        CheckId::CallCutOff => (
            "The client was ended while a tool ran, so the last call has no result.",
            "Every client that was tried (1.0.100 to 2.1.325) closes or drops the call when it resumes.",
            RESUME_ANYWAY,
        ),
        CheckId::EmptyPrompt => (
            "The API refuses a message of the user whose content is empty.",
            "2.1.50 and 2.1.325 send the empty text unchanged.",
            "Remove the record and make its parent the parent of its children, or give it a text.",
        ),
        CheckId::EmptyText => (
            "The API refuses empty text blocks; a session with one in it can never be resumed by a client that sends them.",
            "1.0.100 and 2.0.76 send all of them, 2.1.50 to 2.1.232 those in a message with other blocks; 2.1.325 leaves them out.",
            RESUME_NEWEST,
        ),
        CheckId::ThinkingAltered => (
            "Thinking comes back to the API with a signature over its exact words. A block whose words are gone, or whose signature is empty or no base64, is refused, and with it the conversation.",
            "1.0.100 to 2.1.232 (except 2.1.207, which omits it) and 2.1.325 send such a block unchanged. Blocks of models by other makers carry no signature and are not judged. A change that keeps the form of the signature cannot be seen.",
            "Put the block back as it was, or remove all thinking of that message once its turn is finished.",
        ),
        CheckId::ThinkingDropped => (
            "While a turn is open, the API wants the thinking of its answers back. Removing thinking is safe only in turns that are finished.",
            "The message counts thinking tokens but holds no thinking block; without such a count (clients before 2.1.228) the loss cannot be seen. All clients that were tried close the open turn with words of their own before they go on, so that the API does not ask for the block.",
            "Finish the turn before removing thinking from it.",
        ),
        CheckId::UnreachableHistory => (
            "A resume takes what comes after this record for the whole conversation.",
            "Up to 2.1.70 clients resume without the earlier messages; from 2.1.98 on they go on, where the parent is named but missing, with the record before it in time, if that is at most five seconds older. A record that names no parent starts a conversation in all of them.",
            "Set `parentUuid` of the record to the uuid of the last message before it.",
        ),
        CheckId::StaleBranch => (
            "A resume starts from the record written last, in older clients from the newest end of a branch. Where that hangs from an older message, everything since is lost.",
            "A late record of a hook or of the client under an older message misleads 2.1.143 to 2.1.326, a subagent's record under the newest one 1.0.100 to 2.1.98, a late progress record 2.1.50 and 2.1.70.",
            "Resume with the newest client; where a late record misleads that as well, remove the record.",
        ),
        CheckId::LeafWithoutTime => (
            "The client chooses the branch to resume by the time of its newest message.",
            "From 2.1.143 on clients say \"No conversation found\"; up to 2.1.98 they resume from an older message.",
            "Give the record a `timestamp` such as 2026-01-31T12:00:00.000Z.",
        ),
        CheckId::UnfinishedLastLine => (
            "The client was ended while it wrote its last record. Its content is lost, and a client that appends to the line spoils its next record as well.",
            "2.1.325 starts a new line first; 2.0.76 to 2.1.232 append to the unfinished one.",
            "Remove the unfinished line, or end it with a newline, before you resume with an older client.",
        ),
        CheckId::MisnamedFile => (
            "Sessions are found by the name of their file, which must be a UUID.",
            "2.1.325 refuses any other name; listings leave the file out.",
            "Rename the file to <session id>.jsonl.",
        ),
        CheckId::ForeignFileName => (
            "The file was copied or renamed. Tools that trust the records take it for another session.",
            "2.1.50 and 2.1.325 resume it by the name of the file.",
            RESUME_ANYWAY,
        ),
        CheckId::WrongProjectFolder => (
            "Clients look for a session in the folder of the project they are started in.",
            "2.1.50 says \"No conversation found\"; 2.1.325 finds the id in any project. Not judged if the folder has a name of the user's choice.",
            "Start the client in the project the folder is named for, or move the file to the folder of its own project.",
        ),
        CheckId::UnreadableMessage => (
            "There is nothing in the record that could be sent.",
            "2.1.325 leaves the record out; 2.1.50 fails to resume.",
            RESTORE,
        ),
        CheckId::CallShape => (
            "The API refuses a tool call without a name or with an input that is not an object.",
            "Every client that was tried (1.0.100 to 2.1.325) sends it unchanged.",
            "Make `input` an object again; {} will do. Tools that shorten inputs must keep their structure.",
        ),
        CheckId::ResultShape => (
            "The API takes text or a list of blocks as the content of a result.",
            "1.0.100, 2.0.76 and 2.1.50 fail to resume, 2.1.70 to 2.1.232 send it unchanged and are refused, 2.1.325 sends it as text.",
            RESUME_NEWEST,
        ),
        CheckId::LongToolName => (
            "The API takes tool names of at most 200 characters.",
            "2.1.325 cuts the name; 2.1.50 sends it unchanged.",
            RESUME_NEWEST,
        ),
        CheckId::SummaryLeaf => (
            "Other tools were seen to report a session as missing when the record its title points to is not a message.",
            "Every client that was tried (1.0.100 to 2.1.325) resumes it.",
            "Write titles as `custom-title` records instead.",
        ),
        CheckId::UuidReused => (
            "Links name records by uuid. Where two share one, one of them is lost, and what hangs from it may lead in a circle.",
            "2.1.325 keeps the last of them, 2.1.98 and before lose the history as well, 1.0.100 and 2.0.76 never return.",
            "Give one of them a new uuid and let its children name that.",
        ),
        CheckId::RecordRepeated => (
            "The same record is in the file twice. Clients that write their history again leave it so.",
            "Seen in sessions of healthy clients, 2.1.59 among them.",
            RESUME_ANYWAY,
        ),
        CheckId::SnapshotCollision => (
            "Which state of the files belongs to the message is ambiguous when it is rewound.",
            "2.1.325 resumes it. Rewinding was not tried.",
            RESUME_ANYWAY,
        ),
        CheckId::CompactionWithoutSummary => (
            "The conversation starts again at the compaction. Without its summary the model knows nothing of what came before.",
            "Every client that was tried (1.0.100 to 2.1.325) resumes with what follows alone.",
            RESTORE,
        ),
        CheckId::PreservedMessagesMissing => (
            "The newest messages before a compaction are kept word for word in addition to its summary, by reference.",
            "2.1.325 resumes without those that are missing.",
            RESTORE,
        ),
        CheckId::LastPromptLeaf => (
            "The client notes the end of the conversation with each prompt.",
            "2.1.50 and 2.1.325 resume it all the same.",
            RESUME_ANYWAY,
        ),
        CheckId::StartsWithAnswer => (
            "The API wants the first message to be the user's.",
            "2.1.325 sends the answer first; 2.1.50 to 2.1.232 put a note of their own before it. 1.0.31 and 1.0.60 leave such sessions when they take several prompts as a stream.",
            "Put the first prompt back, or a prompt of your own, and let the answer name it as its parent.",
        ),
        CheckId::NoAnswer => (
            "The client was ended before the model answered.",
            "2.1.325 resumes it and sends the prompt again.",
            RESUME_ANYWAY,
        ),
        CheckId::NothingToResume => (
            "Files that hold no prompt and no answer are left behind by clients that were ended at once.",
            "2.1.325 says \"No conversation found\".",
            RESUME_ANYWAY,
        ),
        CheckId::LargeSession => (
            "The client reads the whole file and sends the whole conversation.",
            "Users report that clients hang on files of more than 50 MB; not measured here.",
            "Resume from a compaction, or from a copy without the large tool results.",
        ),
        CheckId::UsageMissing => (
            "Totals of tokens are too low by this message.",
            "Some gateways leave `usage` out.",
            RESUME_ANYWAY,
        ),
        CheckId::UsageFalls => (
            "Counts of one message grow from record to record; where they fall, one of them is wrong. Totals use the largest.",
            "Seen with 2.0.29 and a gateway.",
            RESUME_ANYWAY,
        ),
        CheckId::UsageSplit => (
            "The cost of a message depends on how long the cache keeps what was written to it.",
            "The two parts and the sum are written by the API itself.",
            "Do not trust costs that are computed from this message.",
        ),
        CheckId::BeingWritten => (
            "The session is open in a client; the last line may be incomplete, and calls without result may still get one.",
            "The file grew between the beginning and the end of the reading.",
            "Check again when the client has finished.",
        ),
    }
}
