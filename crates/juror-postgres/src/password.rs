//! Passwords that the address leaves out: `PGPASSWORD`, and the password file of `PostgreSQL`'s own
//! programs.

use std::path::PathBuf;

use crate::address::Address;

/// Finds the password to an address.
pub(crate) fn find(
    address: &Address,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    environment("PGPASSWORD").or_else(|| {
        let home = || Some(PathBuf::from(environment("HOME")?).join(".pgpass"));
        let file = environment("PGPASSFILE").map(PathBuf::from).or_else(home)?;
        let text = is_private(&file).then(|| std::fs::read_to_string(&file).ok()).flatten()?;
        let wanted = address.for_password();
        text.lines().find_map(|line| password_in(line, &wanted))
    })
}

/// Whether nobody else can read a file. `PostgreSQL`'s own programs ignore it otherwise.
#[cfg(unix)]
fn is_private(file: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|about| about.permissions().mode() % 0o100 == 0)
}

#[cfg(not(unix))]
fn is_private(file: &std::path::Path) -> bool {
    file.exists()
}

/// Returns the password of a line `host:port:database:user:password` if the rest fits.
fn password_in(line: &str, wanted: &[String; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            // What follows the fourth colon is the password, whatever it holds.
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(characters.next()),
            c => fields.last_mut()?.push(c),
        }
    }
    let password = if fields.len() == 5 { fields.pop() } else { None };
    let fits = |(field, wanted): (&String, &String)| field == "*" || field == wanted;
    password.filter(|_| fields.iter().zip(wanted).all(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let wanted = ["db.org", "5432", "evals", "a:n"].map(str::to_owned);
        for (line, password) in [
            ("db.org:5432:evals:a\\:n:hush", Some("hush")),
            ("*:*:*:*:h:u\\\\sh", Some("h:u\\sh")),
            ("other:*:*:*:hush", None),
            ("# *:*:*:*:hush", None),
            ("db.org:5432:evals", None),
        ] {
            assert_eq!(password_in(line, &wanted).as_deref(), password, "{line}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_others_can_read_is_left_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pgpass");
        std::fs::write(&file, "localhost:5432:e:me:hush\n").expect("written");
        for (mode, is_used) in [(0o644, false), (0o600, true)] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, permissions).expect("changed");
            let address = Address::read("postgresql://me:x@localhost/e").expect("an address");
            let name = file.display().to_string();
            let found = find(&address, &|key| (key == "PGPASSFILE").then(|| name.clone()));
            assert_eq!(found.is_some(), is_used);
        }
    }
}
