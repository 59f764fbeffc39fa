//! JSON laid out for people. Knows nothing of what it says.

use serde_json::value::RawValue;

/// The document with line breaks and indents; nothing when it is no JSON.
#[must_use]
pub fn laid_out(text: &str) -> Option<String> {
    pretty(serde_json::from_str::<Box<RawValue>>(text).ok()?.get())
}

/// JSON with line breaks and indents; no token of it is read as a number, so that none can change.
fn pretty(json: &str) -> Option<String> {
    let (mut out, mut depth, mut in_text, mut escaped) = (String::new(), 0_usize, false, false);
    let mut chars = json.chars().filter(|c| !c.is_control()).peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', depth * 2));
    };
    while let Some(c) = chars.next() {
        if in_text {
            out.push(c);
            (escaped, in_text) = (c == '\\' && !escaped, c != '"' || escaped);
            continue;
        }
        match c {
            '"' => {
                in_text = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                if let Some(end) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.checked_sub(1)?;
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laid_out_json_keeps_every_token_as_it_came() {
        let json = r#"{"n":12345678901234567890.10,"t":"a, {b}: \"c\"","e":{},"l":[1,[]]}"#;
        let laid_out = laid_out(json).expect("it works");
        let lines = [
            "{",
            "  \"n\": 12345678901234567890.10,",
            "  \"t\": \"a, {b}: \\\"c\\\"\",",
            "  \"e\": {},",
            "  \"l\": [",
            "    1,",
            "    []",
            "  ]",
            "}",
        ];
        assert_eq!(laid_out.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn what_is_no_json_is_not_laid_out() {
        assert_eq!(laid_out("{\"a\":}"), None);
        assert_eq!(laid_out("amount=5"), None);
    }
}
