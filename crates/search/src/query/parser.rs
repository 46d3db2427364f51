//! Tokens as a tree. `OR` joins less closely than two words in a row.

use super::lexer::{Lexer, Name, Token};
use super::{At, Condition, Field, Fields, LONGEST_QUERY, Property, Qualifier, Query, QueryError};
use std::ops::Range;

/// Groups inside groups, at most.
const DEEPEST: usize = 50;

const QUALIFIERS: &str = "the qualifiers are in: is: project: agent: model: tool: file: branch: \
                          after: before: session: commit:";

/// Parses a query.
pub fn parse(query: &str) -> Result<Query, QueryError> {
    if query.len() > LONGEST_QUERY {
        let message = format!("longer than {LONGEST_QUERY} bytes");
        return Err(QueryError::new(message, &(0..0)).hint("search for a part of it"));
    }
    let mut parser = Parser { lexer: Lexer::new(query), fields: None, next: None };
    parser.advance()?;
    let condition = parser.any(0)?;
    let Parser { fields, next, .. } = parser;
    if let Some((_, at)) = next {
        return Err(QueryError::new("nothing to close here", &at));
    }
    if condition == Condition::All(Vec::new()) {
        let hint = "backstory search 'word \"a phrase\" tool:Bash after:7d'";
        return Err(QueryError::new("nothing to search for", &(0..query.len())).hint(hint));
    }
    Ok(Query { fields, condition })
}

/// Whether the text before a colon is a qualifier, or was meant to be one.
fn name(text: &str) -> Name {
    let known = names();
    if known.clone().any(|name| name == text) {
        return Name::Known;
    }
    let is_word = text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_word && known.clone().any(|name| name.len() >= 4 && is_near(name, text)) {
        return Name::Mistyped;
    }
    Name::Other
}

fn names() -> impl Iterator<Item = &'static str> + Clone {
    ["in", "is"].into_iter().chain(Qualifier::ALL.into_iter().map(Qualifier::name))
}

/// Whether two words differ by one letter that is missing, changed or exchanged with the next.
fn is_near(known: &str, typed: &str) -> bool {
    let (known, typed) = (known.as_bytes(), typed.as_bytes());
    let same = known.iter().zip(typed).take_while(|(a, b)| a == b).count();
    let rest = |word: &[u8], from: usize| word.get(same + from..).unwrap_or_default().to_vec();
    let swapped = || {
        let mut rest = rest(typed, 0);
        if rest.len() > 1 {
            rest.swap(0, 1);
        }
        rest
    };
    rest(known, 1) == rest(typed, 1)
        || rest(known, 1) == rest(typed, 0)
        || rest(known, 0) == rest(typed, 1)
        || rest(known, 0) == swapped()
}

struct Parser<'q> {
    lexer: Lexer<'q>,
    fields: Option<Fields>,
    next: Option<(Token, Range<usize>)>,
}

impl Parser<'_> {
    /// Takes the token that is next.
    fn advance(&mut self) -> Result<Option<(Token, Range<usize>)>, QueryError> {
        let following = self.lexer.next(name)?;
        Ok(std::mem::replace(&mut self.next, following))
    }

    /// What `OR` joins.
    fn any(&mut self, depth: usize) -> Result<Condition, QueryError> {
        let mut parts = vec![self.all(depth)?];
        while let Some((Token::Or, at)) = &self.next {
            let at = at.clone();
            let empty = Condition::All(Vec::new());
            if parts.last() == Some(&empty) {
                return Err(one_side(&at));
            }
            self.advance()?;
            let part = self.all(depth)?;
            if part == empty {
                return Err(one_side(&at));
            }
            parts.push(part);
        }
        Ok(Condition::any(parts))
    }

    /// Everything up to `OR`, a closing parenthesis or the end.
    fn all(&mut self, depth: usize) -> Result<Condition, QueryError> {
        let mut parts = Vec::new();
        while let Some((token, _)) = &self.next {
            match token {
                Token::Or | Token::Close => break,
                Token::And => {
                    self.advance()?;
                }
                _ => parts.extend(self.one(depth, false)?),
            }
        }
        Ok(Condition::all(parts))
    }

    /// One condition; none for `in:`, which is about the whole query.
    fn one(&mut self, depth: usize, negated: bool) -> Result<Option<Condition>, QueryError> {
        let Some((token, at)) = self.advance()? else { return Ok(None) };
        let place = At(at.clone());
        Ok(Some(match token {
            Token::Not => {
                if depth >= DEEPEST {
                    return Err(too_deep(&at));
                }
                match self.one(depth + 1, true)? {
                    Some(inner) => Condition::Not(Box::new(inner)),
                    None => return Err(QueryError::new("nothing after the minus", &at)),
                }
            }
            Token::Open => {
                if depth >= DEEPEST {
                    return Err(too_deep(&at));
                }
                let inner = self.any(depth + 1)?;
                match self.advance()? {
                    Some((Token::Close, _)) => {}
                    _ => {
                        return Err(QueryError::new("this parenthesis is never closed", &at)
                            .hint("close it with `)`, or quote it: \"(\""));
                    }
                }
                if inner == Condition::All(Vec::new()) {
                    return Err(QueryError::new("nothing in these parentheses", &at));
                }
                inner
            }
            Token::Word(text) => Condition::Text(text, place),
            Token::Phrase(text) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                if words.is_empty() {
                    return Err(QueryError::new("nothing in these quotes", &at));
                }
                Condition::Text(words.join(" "), place)
            }
            Token::Regex(pattern) => Condition::Regex(pattern, place),
            Token::Qualified { name, value, value_at } => {
                return self.qualified(&name, value, &at, &value_at, negated);
            }
            // Both end a list of conditions, so they are never next here but after a minus.
            Token::Or | Token::And | Token::Close => {
                return Err(QueryError::new("nothing to search for here", &at));
            }
        }))
    }

    fn qualified(
        &mut self,
        name: &str,
        value: String,
        at: &Range<usize>,
        value_at: &Range<usize>,
        negated: bool,
    ) -> Result<Option<Condition>, QueryError> {
        let place = At(at.clone());
        if value.trim().is_empty() && names().any(|known| known == name) {
            return Err(QueryError::new(format!("`{name}:` without a value"), at)
                .hint("write the value next to the colon, without a space"));
        }
        if name == "in" {
            if negated {
                return Err(QueryError::new("`in:` cannot be negated", at)
                    .hint("name the texts to search, such as in:prompt,answer"));
            }
            let fields = fields(&value, value_at)?;
            self.fields = Some(self.fields.map_or(fields, |known| known.and(fields)));
            return Ok(None);
        }
        if name == "is" {
            let known = Property::ALL.into_iter().find(|property| property.name() == value);
            return known.map(|property| Some(Condition::Is(property, place))).ok_or_else(|| {
                QueryError::new(format!("`is:{value}`: no such property"), value_at)
                    .hint("the properties are error, subagent, edit, compaction")
            });
        }
        let known = Qualifier::ALL.into_iter().find(|known| known.name() == name);
        let Some(qualifier) = known else {
            return Err(QueryError::new(format!("`{name}:`: no such qualifier"), at)
                .hint(format!("{QUALIFIERS}; to search for the text itself, quote it")));
        };
        Ok(Some(Condition::Has(qualifier, value, place)))
    }
}

fn fields(value: &str, at: &Range<usize>) -> Result<Fields, QueryError> {
    let mut fields = Fields::NONE;
    let mut start = at.start;
    for name in value.split(',') {
        let Some(field) = Field::named(name) else {
            let quoted = at.len() != value.len();
            let place = if quoted { at.clone() } else { start..start + name.len() };
            return Err(QueryError::new(format!("`in:{name}`: no such text"), &place)
                .hint(format!("the texts are {}", Fields::all())));
        };
        fields = fields.with(field);
        start += name.len() + 1;
    }
    Ok(fields)
}

fn one_side(at: &Range<usize>) -> QueryError {
    QueryError::new("`OR` needs a word on both sides", at)
        .hint("to search for the word itself, quote it: \"OR\"")
}

fn too_deep(at: &Range<usize>) -> QueryError {
    QueryError::new(format!("more than {DEEPEST} levels of parentheses"), at)
}
