//! Every setting with its value and where that comes from: the merge that a plan is read by, told.

use schemars::JsonSchema;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use toml::de::{DeTable, Deserializer};

use super::{Layers, VARIABLES, Whose};
use crate::model::setting::{At, Level};
use crate::plan::document::{Config, Document};
use crate::plan::schema::{entries, schema};
use crate::plan::{Places, Sites, Source, pointer, source};

/// The least plan there is, for settings without one.
pub(in crate::plan) const NO_PLAN: &str = "version = 1\nplan = { name = \"x\", goal = \"x\" }\n";

/// One setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// Its name as a config file has it: `defaults.max_parallel`, `tiers.light.worker`.
    pub key: String,
    /// Its value; null where nothing is set and nothing is built in.
    pub value: Value,
    /// Who says so.
    pub from: Level,
    /// The file, the variable or the flag; absent for what is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// The variable of the environment that overrules it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<&'static str>,
}

impl From<Whose> for Level {
    fn from(whose: Whose) -> Self {
        match whose {
            Whose::User => Self::User,
            Whose::Repository => Self::Repository,
            Whose::Environment => Self::Environment,
            Whose::Flag => Self::Flag,
        }
    }
}

/// All settings of `plan`, or of plans that leave everything to `layers`, by name. Both are to be without
/// errors: of what cannot be read nothing is told.
#[must_use]
pub fn settings(plan: Option<&Source>, layers: &Layers) -> Vec<Setting> {
    let none = Source::new("", NO_PLAN);
    let plan = plan.unwrap_or(&none);
    let Ok(mut table) = DeTable::parse(&plan.text) else { return Vec::new() };
    source::date_as_text(table.get_mut());
    let Ok(mut document) = Document::deserialize(Deserializer::from(table)) else {
        return Vec::new();
    };
    let mut sites = Sites::new(&plan.file, Places::new(&plan.text), layers);
    layers.lend(&mut document, &mut sites);
    let told = Told { plan, sites: &sites };
    let mut all: Vec<Setting> = Vec::new();
    let built_in = schema::<Config>();
    for (key, variable) in VARIABLES {
        let at = key.replace("/defaults/", "/plan/");
        let said = told.value(&at).map(|value| (value, at));
        let implied = || match key {
            "/defaults/tier" => {
                // The plan's only one, or else the only one there is.
                let only = (document.tiers.0.len() == 1).then(|| document.tiers.0.keys().next());
                let name = document.plan.tier.as_ref().or(only.flatten())?;
                Some((Value::from(name.0.clone()), pointer::join("/tiers", &name.0)))
            }
            "/defaults/review" => {
                document.review.as_ref().map(|_| (Value::from("worker"), "/review".to_owned()))
            }
            _ => None,
        };
        let setting = match said.or_else(implied) {
            Some((value, at)) => told.setting(key, value, &at),
            None => {
                let (table, key_in) = key[1..].split_once('/').unwrap_or_default();
                let table = if table == "provision" { "provision_defaults" } else { table };
                let default = &built_in["definitions"][table]["properties"][key_in]["default"];
                let value = match key {
                    "/defaults/review" => Value::from("none"),
                    _ => default.clone(),
                };
                let (from, at, variable) = (Level::BuiltIn, None, None);
                Setting { key: dotted(key), value, from, at, variable }
            }
        };
        all.push(Setting { variable: Some(variable), ..setting });
    }
    let tiers = document.tiers.0.keys().map(|name| pointer::join("/tiers", &name.0));
    let workers = document.workers.0.keys().map(|name| pointer::join("/workers", &name.0));
    for at in ["/provision/copy", "/provision/setup"] {
        if let Some(value) = told.value(at) {
            all.push(told.setting(at, value, at));
        }
    }
    let review = document.review.iter().map(|_| "/review".to_owned());
    let critic = document.critic.iter().map(|_| "/critic".to_owned());
    let delivery = document.delivery.iter().map(|_| "/delivery".to_owned());
    for table in review.chain(critic).chain(delivery).chain(tiers).chain(workers) {
        let Some(Value::Object(keys)) = told.value(&table) else { continue };
        for (key, value) in keys {
            let at = pointer::join(&table, key);
            all.push(told.setting(&at, value, &at));
        }
    }
    all
}

/// A plan among its layers.
struct Told<'a> {
    plan: &'a Source,
    sites: &'a Sites,
}

impl Told<'_> {
    /// What stands at `at`, wherever that is.
    fn value(&self, at: &str) -> Option<Value> {
        let (text, at) = match self.sites.lender(at) {
            Some((layer, from)) => (&layer.source.text, from),
            None => (&self.plan.text, at.to_owned()),
        };
        entries(DeTable::parse(text).ok()?.get_ref()).pointer(&at).cloned()
    }

    /// The setting `key`, which is said at `at`.
    fn setting(&self, key: &str, value: Value, at: &str) -> Setting {
        let span = self.sites.key(at).unwrap_or_else(|| self.sites.nearest(at));
        let line = |source: &Source| Some(source.position(span.start).0);
        let (from, name, line) = match self.sites.lender(at) {
            Some((layer, _)) => {
                let line = if layer.is_file() { line(&layer.source) } else { None };
                (layer.whose.into(), layer.source.file.clone(), line)
            }
            None => (Level::Plan, self.plan.file.clone(), line(self.plan)),
        };
        let value = if is_environment(key) { masked(value) } else { value };
        Setting { key: dotted(key), value, from, at: Some(At { name, line }), variable: None }
    }
}

/// What a value is shown as that may be a secret.
const MASK: &str = "***";

/// Whether a setting is the environment of a worker: names with values that may be keys and tokens.
fn is_environment(at: &str) -> bool {
    let parts: Vec<_> = pointer::parts(at).collect();
    matches!(parts.as_slice(), [first, _, last] if first == "workers" && last == "env")
}

/// The names alone: what is shown is copied into reports and logs.
fn masked(value: Value) -> Value {
    match value {
        Value::Object(all) => all.into_iter().map(|(name, _)| (name, Value::from(MASK))).collect(),
        other => other,
    }
}

/// A pointer as a dotted key of TOML. Names need no quotes: they are ids.
pub(super) fn dotted(at: &str) -> String {
    pointer::parts(at).collect::<Vec<_>>().join(".")
}
