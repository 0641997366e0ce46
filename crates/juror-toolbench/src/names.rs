//! The names of tools and APIs.
//!
//! An API has a raw name, given by its tool file, and several derived ones: the public server
//! stores replies under one, agents call it by others. The rules that derive them are published
//! behaviour and followed exactly; if one falls short, its function says what to do.

use juror_json::python;

/// The longest allowed name of a function.
pub const LONGEST_NAME: usize = 64;

/// Separates an API from its tool in a function's name, and a tool from its category in a folder's.
pub(super) const FOR: &str = "_for_";

/// Writes a raw name as the public server does: keeps ASCII letters in lower case, digits and
/// Chinese characters, replaces each run of anything else with one `_`, and never begins with a
/// digit.
///
/// `^` is kept, since caches in the wild contain it.
pub fn standardize(raw: &str) -> String {
    let mut name = String::with_capacity(raw.len());
    for c in raw.chars() {
        if c.is_ascii_alphanumeric() || c == '^' || ('\u{4e00}'..='\u{9fa5}').contains(&c) {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    if name.ends_with('_') {
        name.pop();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "get_");
    }
    name
}

/// Changes a standardized name that would be a reserved word in Python.
pub fn change_name(name: &str) -> String {
    match name {
        "from" | "class" | "return" | "false" | "true" | "id" | "and" => format!("is_{name}"),
        _ => name.to_owned(),
    }
}

/// Returns the standard name of an API or a parameter.
pub fn standard_name(raw: &str) -> String {
    change_name(&standardize(raw))
}

/// Returns a category as folders write it. Three separators in a row leave two, as caches have it;
/// [`merge_category`] leaves one.
pub fn standardize_category(raw: &str) -> String {
    raw.replace([' ', ',', '/'], "_").replace("__", "_")
}

/// Returns a category with one `_` for each run of separators.
pub fn merge_category(raw: &str) -> String {
    let mut category = raw.replace([' ', ',', '/'], "_");
    while category.contains("__") {
        category = category.replace("__", "_");
    }
    category
}

/// Returns a function's name as the public agents write it: the API first, cut to its last 64
/// characters.
///
/// [`unique_names`](super::unique_names) distinguishes names that cutting made equal.
pub fn official_name(tool: &str, api: &str) -> String {
    end_of(&full_official_name(tool, api)).to_owned()
}

/// Cuts a name to the last characters that fit.
pub(super) fn end_of(name: &str) -> &str {
    let n_cut = name.chars().count().saturating_sub(LONGEST_NAME);
    name.char_indices().nth(n_cut).map_or("", |(at, _)| &name[at..])
}

/// Returns an official name before cutting; see [`official_name`].
pub fn full_official_name(tool: &str, api: &str) -> String {
    standard_name(api) + FOR + &standardize(tool)
}

/// Replaces with `_` the characters in a function's name that model providers reject.
pub fn plain_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Joins the names of a tool and an API as answer documents do.
pub fn document_name(tool: &str, api: &str) -> String {
    format!("{tool}_{api}")
}

/// Which letters and digits a sanitized name may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Those of every script, as in names found in the wild.
    Any,
    /// Only those that model providers accept.
    Ascii,
}

/// Replaces with `_` the characters in a document name that function names must not contain, and
/// cuts it to its first `longest` characters.
pub fn sanitize(name: &str, letters: Letters, longest: usize) -> String {
    let is_letter = |c: char| match letters {
        Letters::Any => python::is_alphanumeric(c),
        Letters::Ascii => c.is_ascii_alphanumeric(),
    };
    let mut kept = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if is_letter(c) || c == '-' { c } else { '_' };
        if c != '_' || !kept.ends_with('_') {
            kept.push(c);
        }
    }
    let kept = kept.trim_matches('_');
    let prefix = match kept.chars().next() {
        None => "tool",
        Some(first) if !is_letter(first) => "tool_",
        Some(_) => "",
    };
    let cut: String = prefix.chars().chain(kept.chars()).take(longest).collect();
    cut.trim_end_matches('_').to_owned()
}

/// Returns a parameter's name in a form that does not begin with `_`.
pub fn sanitize_parameter(name: &str) -> String {
    match name.strip_prefix('_') {
        Some(rest) => format!("param_{rest}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_standardized() {
        let check = |raw: &str, name: &str| assert_eq!(standardize(raw), name, "{raw}");
        check("Get  Song (v2)!", "get_song_v2");
        check("__x__", "x");
        check("23andMe", "get_23andme");
        check("天气 API", "天气_api");
        check("Café^2", "caf_^2");
        check("👋", "");
    }

    #[test]
    fn words_of_python_are_changed() {
        assert_eq!(standard_name("ID"), "is_id");
        assert_eq!(standard_name("ids"), "ids");
    }

    #[test]
    fn categories_are_merged_once_or_wholly() {
        assert_eq!(standardize_category("News, Media"), "News_Media");
        assert_eq!(standardize_category("A   B"), "A__B");
        assert_eq!(merge_category("A   B"), "A_B");
    }

    #[test]
    fn long_function_names_keep_their_end() {
        assert_eq!(
            official_name("TheClique", "Songkick concert"),
            "songkick_concert_for_theclique"
        );
        let name = official_name("tool", &"a".repeat(80));
        assert_eq!((name.len(), name.ends_with("aa_for_tool")), (64, true));
    }

    #[test]
    fn names_are_sanitized() {
        let any = |name: &str| sanitize(name, Letters::Any, LONGEST_NAME);
        assert_eq!(any("Café Menú_Plats du jour"), "Café_Menú_Plats_du_jour");
        assert_eq!(any("-x"), "tool_-x");
        assert_eq!(any("a\u{301}"), "a");
        assert_eq!(sanitize("___", Letters::Any, 3), "too");
        assert_eq!(any(&("a".repeat(63) + " b")), "a".repeat(63));
        let ascii = sanitize("Café Menú_Plats du jour", Letters::Ascii, LONGEST_NAME);
        assert_eq!(ascii, "Caf_Men_Plats_du_jour");
    }
}
