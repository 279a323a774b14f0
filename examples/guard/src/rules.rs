//! The words that may not go to the model, and those that may not come from it: src/rules.json.

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Rules {
    /// Words that a client's message may not have.
    refuse: Vec<String>,
    /// Words that clients do not see.
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

/// Hides words of a text that is being generated. A word that is not complete waits.
pub struct Hiding<'a> {
    rules: &'a Rules,
    word: String,
}

impl<'a> Hiding<'a> {
    pub fn new(rules: &'a Rules) -> Self {
        Hiding { rules, word: String::new() }
    }

    /// Adds a piece, and returns the text that can be shown after it.
    pub fn add(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for c in piece.chars() {
            if c.is_alphanumeric() {
                self.word.push(c);
            } else {
                shown += &self.end();
                shown.push(c);
            }
        }
        shown
    }

    /// The rest of the text.
    pub fn end(&mut self) -> String {
        let word = std::mem::take(&mut self.word);
        if self.rules.hide.contains(&word.to_lowercase()) { "*".repeat(word.chars().count()) } else { word }
    }
}
