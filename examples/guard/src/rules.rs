//! What may go to the model, and what may come from it: src/rules.json.

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Rules {
    /// Words that no message of a client's may have.
    refuse: Vec<String>,
    /// Words that no client sees.
    hide: Vec<String>,
}

impl Rules {
    pub fn read() -> Self {
        serde_json::from_str(include_str!("rules.json")).expect("rules.json is compiled in")
    }

    /// The word for which a text is refused.
    pub fn refusal_of(&self, text: &str) -> Option<&str> {
        let text = text.to_lowercase();
        let is_in = |word: &&String| text.split(|c: char| !c.is_alphanumeric()).any(|part| part == **word);
        self.refuse.iter().find(is_in).map(String::as_str)
    }
}

/// Hides words of a text that grows. What may still become such a word waits.
pub struct Hiding<'a> {
    rules: &'a Rules,
    word: String,
}

impl<'a> Hiding<'a> {
    pub fn new(rules: &'a Rules) -> Self {
        Hiding { rules, word: String::new() }
    }

    /// What may be told after this piece.
    pub fn add(&mut self, piece: &str) -> String {
        let mut told = String::new();
        for c in piece.chars() {
            if c.is_alphanumeric() {
                self.word.push(c);
            } else {
                told += &self.end();
                told.push(c);
            }
        }
        told
    }

    /// The rest.
    pub fn end(&mut self) -> String {
        let word = std::mem::take(&mut self.word);
        if self.rules.hide.contains(&word.to_lowercase()) { "*".repeat(word.chars().count()) } else { word }
    }
}
