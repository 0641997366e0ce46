//! Where the public server stores the replies of an API.

use super::names::{FOR, standard_name, standardize, standardize_category};

/// The names of an API in the folders of a reply cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderNames {
    /// The category.
    pub category: String,
    /// The tool with its category.
    pub tool: String,
    /// The API.
    pub api: String,
    /// The standardized name of the tool, without its category.
    pub standard_tool: String,
}

/// A name that would lead out of its folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name for a folder or file")]
pub struct UnsafeName(pub String);

impl FolderNames {
    /// Makes names from a request as the public server does.
    ///
    /// A tool given with its category is used unchanged. An API given with its tool keeps it,
    /// unless the tool is written the same way. Both forms occur in caches. Names made this way may
    /// point anywhere; see [`FolderNames::check`].
    pub fn as_requested(category: &str, tool: &str, api: &str) -> FolderNames {
        let category = standardize_category(category);
        let api = cut_at(&standard_name(api), tool);
        let suffix = format!("{FOR}{category}");
        if tool.ends_with(&suffix) {
            let standard_tool = standardize(&tool.replace(&suffix, ""));
            return FolderNames { category, tool: tool.to_owned(), api, standard_tool };
        }
        let standard_tool = standardize(tool);
        FolderNames { tool: format!("{standard_tool}{suffix}"), category, api, standard_tool }
    }

    /// Makes the same names however a request is written: standardizes tool and API whether or not
    /// they carry the name of what they belong to. Replies are stored under these.
    pub fn settled(category: &str, tool: &str, api: &str) -> FolderNames {
        let category = standardize_category(category);
        let suffix = format!("{FOR}{category}");
        let standard_tool = standardize(tool.strip_suffix(&suffix).unwrap_or(tool));
        let api = cut_at(&cut_at(&standard_name(api), tool), &standard_tool);
        FolderNames { tool: format!("{standard_tool}{suffix}"), category, api, standard_tool }
    }

    /// Rejects names that a file system would not accept as one plain name each.
    pub fn check(&self) -> Result<(), UnsafeName> {
        for name in [&self.category, &self.tool, &self.api] {
            let is_plain = |c: char| !matches!(c, '/' | '\\') && !c.is_control();
            let is_dots = name.chars().all(|c| c == '.');
            if is_dots || name.len() > 200 || !name.chars().all(is_plain) {
                return Err(UnsafeName(name.clone()));
            }
        }
        Ok(())
    }

    /// Returns the path of the reply file in a cache folder.
    pub fn cache_file(&self) -> String {
        format!("{}/{}/{}.json", self.category, self.tool, self.api)
    }
}

/// Cuts an API's name where its tool's begins.
fn cut_at(api: &str, tool: &str) -> String {
    let suffix = format!("{FOR}{tool}");
    api.split_once(&suffix).map_or(api, |(api, _)| api).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_filed_as_the_public_server_does() {
        let check = |category, tool, api, file: &str| {
            assert_eq!(FolderNames::as_requested(category, tool, api).cache_file(), file);
        };
        check(
            "Data",
            "TheClique",
            "Songkick concert",
            "Data/theclique_for_Data/songkick_concert.json",
        );
        check("News, Media", "a", "id", "News_Media/a_for_News_Media/is_id.json");
        check("Data", "TheClique_for_Data", "x", "Data/TheClique_for_Data/x.json");
        check("Data", "a", "x_for_a", "Data/a_for_Data/x.json");
        check("Data", "The A", "x_for_the_a", "Data/the_a_for_Data/x_for_the_a.json");
    }

    #[test]
    fn settled_names_do_not_depend_on_how_a_request_is_written() {
        let file = "Data/theclique_for_Data/transfermarkt_details.json";
        for tool in ["TheClique", "theclique", "TheClique_for_Data", "theclique_for_Data"] {
            for api in ["Transfermarkt details", "transfermarkt_details_for_theclique"] {
                assert_eq!(FolderNames::settled("Data", tool, api).cache_file(), file);
            }
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let requested = |tool: &str| FolderNames::as_requested("Data", tool, "x");
        assert!(requested("../../etc/x_for_Data").check().is_err());
        assert!(FolderNames::settled("Data", "../../etc/x_for_Data", "x").check().is_ok());
        assert!(FolderNames::settled("..", "a", "b").check().is_err());
        assert!(FolderNames::settled("a\\b", "a", "b").check().is_err());
        assert!(FolderNames::settled("Data", "a", "").check().is_err());
        assert!(requested("TheClique").check().is_ok());
    }
}
