//! The methods, by their names in answer files.

use std::fmt;
use std::str::FromStr;

/// How an agent works on a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `CoT@n`: go straight on, and start over if that fails.
    Chain {
        /// The maximum number of tries.
        tries: usize,
    },
    /// `DFS_woFilter_wK`: go back to where something else can be done.
    TreeSearch {
        /// How many branches to try from each place.
        width: usize,
    },
}

/// A method that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// There is no method of this name.
    #[error("there is no method `{0}`: use `CoT@1` or `DFS_woFilter_w2`, with any number from 1")]
    Unknown(String),
    /// A tree search in which the model ranks the branches.
    #[error("`{0}` ranks branches, which is not offered: use `DFS_woFilter_w2`")]
    Ranked(String),
}

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(name: &str) -> Result<Method, MethodError> {
        let unknown = || MethodError::Unknown(name.to_owned());
        let number = |text: &str| text.parse().ok().filter(|n| *n > 0).ok_or_else(unknown);
        if let Some(tries) = name.strip_prefix("CoT@") {
            return Ok(Method::Chain { tries: number(tries)? });
        }
        let rest = name.strip_prefix("DFS").ok_or_else(unknown)?;
        let (kind, width) = rest.rsplit_once("_w").ok_or_else(unknown)?;
        let width = number(width)?;
        if !kind.contains("woFilter") {
            return Err(MethodError::Ranked(name.to_owned()));
        }
        Ok(Method::TreeSearch { width })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Chain { tries } => write!(f, "CoT@{tries}"),
            Method::TreeSearch { width } => write!(f, "DFS_woFilter_w{width}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_known_by_their_names() {
        let read = |name: &str| name.parse::<Method>();
        assert_eq!(read("CoT@1"), Ok(Method::Chain { tries: 1 }));
        assert_eq!(read("DFS_woFilter_w12"), Ok(Method::TreeSearch { width: 12 }));
        for name in ["CoT@3", "DFS_woFilter_w2"] {
            assert_eq!(read(name).map(|method| method.to_string()).as_deref(), Ok(name));
        }
        assert_eq!(read("DFS_w2"), Err(MethodError::Ranked("DFS_w2".into())));
        for name in
            ["", "CoT", "CoT@0", "CoT@x", "DFS", "DFS_woFilter", "DFS_woFilter_w", "ReAct@1"]
        {
            assert_eq!(read(name), Err(MethodError::Unknown(name.into())), "{name}");
        }
    }
}
