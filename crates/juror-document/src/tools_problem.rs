//! What can be wrong with a document that describes tools.

use std::fmt;

/// Why a part of such a document cannot be used as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolsProblem {
    /// The document describes no tools in a known form.
    Unknown {
        /// A description of what it is instead.
        found: String,
    },
    /// The document is of an older standard.
    OldStandard {
        /// Its version.
        version: String,
    },
    /// A reference cannot be followed; anything is allowed in its place.
    Reference {
        /// The reference.
        reference: String,
        /// Why it cannot be followed.
        why: &'static str,
    },
    /// A reference leads back to itself; it is kept as a definition.
    Recursive {
        /// The reference.
        reference: String,
    },
    /// A function or an operation that cannot be called.
    Uncallable {
        /// Why.
        why: &'static str,
    },
}

impl fmt::Display for ToolsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolsProblem::Unknown { found } => write!(f, "no tools in any known form: {found}"),
            ToolsProblem::OldStandard { version } => {
                write!(f, "this is version {version} of OpenAPI, and 3.0 or 3.1 is needed")
            }
            ToolsProblem::Reference { reference, why } => {
                write!(f, "the reference `{reference}` {why}; anything may stand in its place")
            }
            ToolsProblem::Recursive { reference } => {
                write!(f, "the reference `{reference}` contains itself, and is kept under `$defs`")
            }
            ToolsProblem::Uncallable { why } => write!(f, "{why}, and is left out"),
        }
    }
}

impl ToolsProblem {
    /// Whether the tool is offered nevertheless.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(self, ToolsProblem::Reference { .. } | ToolsProblem::Recursive { .. })
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            ToolsProblem::Unknown { .. } => Some(
                "looked for an OpenAPI 3 document (`openapi` and `paths`), a list of OpenAI \
                 functions, a `tools/list` result of an MCP server (`tools` with `inputSchema`), \
                 and a tool file (`tool_name` and `api_list`)",
            ),
            ToolsProblem::OldStandard { .. } => {
                Some("convert it first, for example with swagger2openapi")
            }
            ToolsProblem::Reference { .. } => {
                Some("references may lead to other parts of the same file")
            }
            ToolsProblem::Recursive { .. } | ToolsProblem::Uncallable { .. } => None,
        }
    }
}
