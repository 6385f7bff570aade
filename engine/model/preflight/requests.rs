//! Where pull requests would go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Auth;

/// Where pull requests would go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// The remote that branches would be pushed to.
    pub remote: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// The program that speaks to it.
    pub forge: Option<String>,
    /// Where that program is.
    pub path: Option<String>,
    /// Whether it is logged in; absent where there is no such program.
    pub auth: Option<Auth>,
    /// The branch that requests would be made against.
    pub base_branch: Option<String>,
    /// Whether that branch is protected; absent where nobody was asked.
    pub protection: Option<bool>,
}
