//! What a session lets its client choose: the model, the effort, the mode. Agents offer it in two
//! ways, as `configOptions` (the newer) or as `models` and `modes`; who offers both is asked the newer way.

use serde_json::{Value, json};

/// What is offered, and what is set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choices {
    model: Option<Choice>,
    effort: Option<Choice>,
    mode: Option<Choice>,
}

#[derive(Debug, Clone, PartialEq)]
struct Choice {
    /// The id of the config option; nothing for what has a method of its own.
    option: Option<String>,
    current: Option<String>,
    values: Vec<Value>,
}

/// Something to set: a method and its params, without the session.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// The method.
    pub method: &'static str,
    /// Its params.
    pub params: Value,
}

/// Modes in which an agent asks before it does what it must not, by their usual names.
const ASKING: &[&str] = &["auto", "default", "ask", "build", "code"];
/// Modes that read only, by their usual names.
const READING: &[&str] = &["read-only", "plan"];

impl Choices {
    /// Reads the answer to `session/new`, `session/load`, `session/resume` or
    /// `session/set_config_option`, or a `config_option_update`; what it does not tell stays.
    pub fn learn(&mut self, told: &Value) {
        let models = told.get("models").filter(|models| models.is_object());
        if let Some(models) = models {
            self.model = Some(Choice::listed(models, "availableModels", "currentModelId"));
        }
        if let Some(modes) = told.get("modes").filter(|modes| modes.is_object()) {
            self.mode = Some(Choice::listed(modes, "availableModes", "currentModeId"));
        }
        for option in told.get("configOptions").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| option.get(key).and_then(Value::as_str);
            let slot = match text("category").or(text("id")) {
                Some("model") => &mut self.model,
                Some("thought_level") => &mut self.effort,
                Some("mode") => &mut self.mode,
                _ => continue,
            };
            if let Some(choice) = Choice::of_option(option) {
                *slot = Some(choice);
            }
        }
    }

    /// The model that is set.
    #[must_use]
    pub fn current_model(&self) -> Option<&str> {
        self.model.as_ref()?.current.as_deref()
    }

    /// How to set the model: nothing to do if it is set (unless it is to be set `again`), an error if
    /// the agent lets nobody choose.
    ///
    /// # Errors
    /// What to tell the person.
    pub fn set_model(&self, model: &str, again: bool) -> Result<Option<Set>, String> {
        let Some(choice) = &self.model else {
            return Err(format!("the agent lets no model be chosen, so not {model} either"));
        };
        // A name that is not listed is tried all the same: lists hold what is usual.
        Ok(choice.set("session/set_model", "modelId", model, again))
    }

    /// The models that are listed, for the person who misspelt one.
    #[must_use]
    pub fn models(&self) -> Vec<&str> {
        self.model
            .iter()
            .flat_map(|choice| choice.values.iter())
            .filter_map(Choice::value)
            .collect()
    }

    /// How to set the effort. Nothing if it is set, or cannot be.
    #[must_use]
    pub fn set_effort(&self, effort: &str) -> Option<Set> {
        self.effort.as_ref()?.set("session/set_mode", "modeId", effort, false)
    }

    /// Whether the effort can be chosen.
    #[must_use]
    pub fn has_effort(&self) -> bool {
        self.effort.is_some()
    }

    /// How to come to a mode that fits: out of one that only reads for a session that works; for one
    /// that may only read, into one that is held to it, or else into one that asks. Nothing where the
    /// mode fits: what a user set beyond asking is theirs, as long as work is allowed at all.
    #[must_use]
    pub fn set_mode(&self, read_only: bool) -> Option<Set> {
        let choice = self.mode.as_ref()?;
        let current = choice.current.as_deref()?;
        let offers =
            |name: &&str| choice.values.iter().any(|value| Choice::value(value) == Some(name));
        let asking = || ASKING.iter().copied().find(offers);
        let fit = match (read_only, READING.contains(&current)) {
            (true, true) | (false, false) => None,
            // `plan` is no mode for a reviewer: agents answer with a plan there.
            (true, false) if offers(&"read-only") => Some("read-only"),
            (true, false) if ASKING.contains(&current) => None,
            (true, false) | (false, true) => asking(),
        };
        choice.set("session/set_mode", "modeId", fit?, false)
    }
}

impl Choice {
    fn listed(told: &Value, values: &str, current: &str) -> Self {
        Self {
            option: None,
            current: told.get(current).and_then(Value::as_str).map(str::to_owned),
            values: told.get(values).and_then(Value::as_array).cloned().unwrap_or_default(),
        }
    }

    fn of_option(option: &Value) -> Option<Self> {
        let id = option.get("id").or(option.get("configId"))?.as_str()?;
        let mut values = Vec::new();
        for value in option.get("options").and_then(Value::as_array).into_iter().flatten() {
            // Options may come in groups.
            match value.get("options").and_then(Value::as_array) {
                Some(group) => values.extend(group.iter().cloned()),
                None => values.push(value.clone()),
            }
        }
        let current = option.get("currentValue").and_then(Value::as_str).map(str::to_owned);
        Some(Self { option: Some(id.to_owned()), current, values })
    }

    fn value(listed: &Value) -> Option<&str> {
        ["value", "modelId", "id"].iter().find_map(|key| listed.get(*key)).and_then(Value::as_str)
    }

    fn set(&self, method: &'static str, key: &str, wanted: &str, again: bool) -> Option<Set> {
        if !again && self.current.as_deref() == Some(wanted) {
            return None;
        }
        Some(match &self.option {
            Some(id) => Set {
                method: "session/set_config_option",
                params: json!({ "configId": id, "value": wanted }),
            },
            None => Set { method, params: json!({ key: wanted }) },
        })
    }
}
