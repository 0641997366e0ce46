//! The names of tools and APIs.
//!
//! An API has a raw name, which its tool file gives, and several made ones: the public server files
//! replies under one, agents call it by others. The rules that make them are published behaviour
//! and kept exactly; what to do where they fall short is said beside each.

use juror_json::python;

/// The longest name that a function may have.
pub const LONGEST_NAME: usize = 64;

/// What stands between an API and its tool in a function's name, and between a tool and its
/// category in a folder's.
pub(super) const FOR: &str = "_for_";

/// A raw name as the public server writes it: lower-case ASCII letters, digits and Chinese
/// characters, everything else one `_`; never a digit at the front.
///
/// `^` passes, since caches in the wild have it.
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

/// A standardized name, made different from the words that Python keeps for itself.
pub fn change_name(name: &str) -> String {
    match name {
        "from" | "class" | "return" | "false" | "true" | "id" | "and" => format!("is_{name}"),
        _ => name.to_owned(),
    }
}

/// The standard name of an API or of a parameter.
pub fn standard_name(raw: &str) -> String {
    change_name(&standardize(raw))
}

/// A category as it is called in folders. Of three separators in a row two remain, as caches have
/// it; [`merge_category`] leaves one.
pub fn standardize_category(raw: &str) -> String {
    raw.replace([' ', ',', '/'], "_").replace("__", "_")
}

/// A category with one `_` for any run of separators.
pub fn merge_category(raw: &str) -> String {
    let mut category = raw.replace([' ', ',', '/'], "_");
    while category.contains("__") {
        category = category.replace("__", "_");
    }
    category
}

/// A function's name as the public agents have it: API first, cut to its last 64 characters.
///
/// Names that become the same by cutting are told apart by [`unique_names`](super::unique_names).
pub fn official_name(tool: &str, api: &str) -> String {
    end_of(&full_official_name(tool, api)).to_owned()
}

/// The last characters of a name, as many as it may have.
pub(super) fn end_of(name: &str) -> &str {
    let n_cut = name.chars().count().saturating_sub(LONGEST_NAME);
    name.char_indices().nth(n_cut).map_or("", |(at, _)| &name[at..])
}

/// An official name before it is cut: [`official_name`].
pub fn full_official_name(tool: &str, api: &str) -> String {
    standard_name(api) + FOR + &standardize(tool)
}

/// A function's name with `_` for what providers of models do not take in one.
pub fn plain_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// A tool's and an API's name in the form that documents of answers use.
pub fn document_name(tool: &str, api: &str) -> String {
    format!("{tool}_{api}")
}

/// Which letters and digits a sanitized name may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Those of every script, as names in the wild were made.
    Any,
    /// Those that model providers accept.
    Ascii,
}

/// A document's name with `_` for what function names must not contain, cut to its first
/// characters.
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

/// A parameter's name where one may not begin with `_`.
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
