//! Parses the store's location. Errors never contain passwords.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use percent_encoding::percent_decode_str;
use tokio_postgres::{Config, config::SslMode};

use crate::{
    database_error::message,
    error::StoreError,
    location::{Certificate, Location, ServerAddress},
};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The keys of libpq and ODBC connection strings
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS>).
const SETTINGS: [&str; 13] = [
    "host",
    "hostaddr",
    "port",
    "dbname",
    "database",
    "user",
    "username",
    "passfile",
    "service",
    "servicefile",
    "server",
    "sslmode",
    "data source",
];
const SECRETS: [&str; 5] = ["password", "passwd", "sslpassword", "pgpassword", "pwd"];
/// Debian's default folder for sockets.
const SOCKETS: &str = "/var/run/postgresql";
const PORT: u16 = 5432;
/// Maximum silence on a connection. The system's default is several hours.
const SILENCE: Duration = Duration::from_secs(30);
const PROBES: (Duration, u32) = (Duration::from_secs(10), 3);

impl Location {
    /// Rejects database addresses that do not start with `postgres://` or `postgresql://`: their passwords would become
    /// part of a file name.
    pub fn parse(place: &Path) -> Result<Self, StoreError> {
        let strip =
            |text: &str| SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)).map(str::to_owned);
        let Some(address) = place.to_str().and_then(strip) else {
            return match mistaken_address(&place.to_string_lossy()) {
                Some(reason) => Err(StoreError::Address { reason: reason.to_owned() }),
                None => Ok(Self::File(place.to_owned())),
            };
        };
        ServerAddress::parse(&address)
            .map(|address| Self::Server(Box::new(address)))
            .map_err(|reason| StoreError::Address { reason })
    }
}

struct Parameters<'a> {
    sslmode: &'a str,
    sslrootcert: Option<PathBuf>,
    hosts: Vec<&'a str>,
    port: u16,
    others: Vec<&'a str>,
}

impl ServerAddress {
    /// Parses `USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?KEY=VALUE&KEY=VALUE`. As in libpq, everything but the slash
    /// is optional (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS>).
    fn parse(address: &str) -> Result<Self, String> {
        let (head, query) = address.split_once('?').unwrap_or((address, ""));
        let (authority, database) = head.split_once('/').unwrap_or((head, ""));
        let (user, hosts) =
            authority.split_once('@').map_or((None, authority), |(user, hosts)| (Some(user), hosts));
        // With a second @, part of the password would appear as the host.
        if [hosts, database, query].iter().any(|part| part.contains('@')) {
            return Err("write @, :, / and ? in a user name or password as %40, %3A, %2F and %3F".to_owned());
        }
        let parameters = Parameters::parse(query)?;
        let (mode, certificate) = parameters.encryption()?;
        let mut settings = settings(user, database, &parameters.others)?;
        settings.ssl_mode(mode);
        let shown_user = user.map(|user| user.split(':').next().unwrap_or_default());
        let shown = format!(
            "postgres://{}{}/{database}",
            shown_user.map(|user| format!("{user}@")).unwrap_or_default(),
            [&[hosts][..], &parameters.hosts[..]].concat().join(",").trim_matches(','),
        );
        Ok(Self { settings, hosts: parameters.hosts(hosts)?, certificate, shown })
    }
}

impl<'a> Parameters<'a> {
    fn parse(query: &'a str) -> Result<Self, String> {
        let mut parameters =
            Self { sslmode: "prefer", sslrootcert: None, hosts: Vec::new(), port: PORT, others: Vec::new() };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or("a parameter has no value")?;
            match key {
                "sslmode" => parameters.sslmode = value,
                "sslrootcert" => parameters.sslrootcert = Some(decoded(value)?.into()),
                "host" => parameters.hosts.extend(value.split(',')),
                "port" => parameters.port = port(value)?,
                "hostaddr" => return Err("use the address as the host instead of `hostaddr`".to_owned()),
                _ => parameters.others.push(pair),
            }
        }
        Ok(parameters)
    }

    fn hosts(&self, written: &str) -> Result<Vec<(String, u16)>, String> {
        let written = written.split(',').filter(|host| !host.is_empty()).map(|host| self.host(host));
        let named = self.hosts.iter().map(|host| Ok((decoded(host)?, self.port)));
        let mut hosts = written.chain(named).collect::<Result<Vec<_>, String>>()?;
        if hosts.is_empty() {
            hosts.push((SOCKETS.to_owned(), self.port));
        }
        Ok(hosts)
    }

    fn host(&self, written: &str) -> Result<(String, u16), String> {
        let (host, behind) = match written.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or("an IPv6 address has no closing bracket")?,
            None => written.split_at(written.find(':').unwrap_or(written.len())),
        };
        let port = match behind {
            "" | ":" => self.port,
            _ => port(behind.strip_prefix(':').unwrap_or(behind))?,
        };
        Ok((decoded(host)?, port))
    }

    fn encryption(&self) -> Result<(SslMode, Certificate), String> {
        match (self.sslmode, &self.sslrootcert) {
            ("verify-full", Some(file)) => {
                Ok((SslMode::Require, Certificate::Checked { authorities: file.clone() }))
            }
            ("verify-full", None) => {
                Err("sslmode=verify-full needs sslrootcert=FILE, the PEM certificate of \
                                          the CA that signed the server's certificate"
                    .to_owned())
            }
            (_, Some(_)) => Err("sslrootcert requires sslmode=verify-full".to_owned()),
            ("disable", None) => Ok((SslMode::Disable, Certificate::Unchecked)),
            ("prefer", None) => Ok((SslMode::Prefer, Certificate::Unchecked)),
            ("require", None) => Ok((SslMode::Require, Certificate::Unchecked)),
            _ => Err("sslmode must be disable, prefer, require or verify-full".to_owned()),
        }
    }
}

/// Detects a file name that looks like a database address in another form. It may contain a password.
fn mistaken_address(text: &str) -> Option<&'static str> {
    let is_around = |c: char| c.is_whitespace() || c == '\'' || c == '"';
    let text = text.trim_start_matches(is_around).to_lowercase();
    if text.contains("://") {
        return Some("it has a scheme other than postgres:// or postgresql://");
    }
    if SCHEMES.iter().any(|scheme| text.starts_with(scheme.trim_end_matches('/'))) {
        return Some("`//` is missing after `postgres:`");
    }
    let is_setting = |(at, _): (usize, &str)| {
        let before = text[..at].trim_end_matches(is_around);
        let key = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        SECRETS.contains(&key) || SETTINGS.contains(&before)
    };
    if text.match_indices('=').any(is_setting) {
        return Some("a list of settings (KEY=VALUE) is not supported");
    }
    let is_path = ["./", "../", "/"].iter().any(|begin| text.starts_with(begin)) && !text.starts_with("//");
    let has_password = text.rsplit_once('@').is_some_and(|(before, _)| before.contains(':'));
    (has_password && !is_path).then_some("`postgres://` is missing before the user")
}

/// Builds the connection settings without the hosts, which are tried one by one.
fn settings(user: Option<&str>, database: &str, others: &[&str]) -> Result<Config, String> {
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let address = format!("postgresql://{user}/{database}?{}", others.join("&"));
    let mut settings = address.parse::<Config>().map_err(|error| message(&error))?;
    if settings.get_application_name().is_none() {
        settings.application_name(own_name());
    }
    if settings.get_tcp_user_timeout().is_none() {
        settings.tcp_user_timeout(SILENCE);
    }
    if !others.iter().any(|pair| pair.starts_with("keepalives")) {
        settings.keepalives_idle(SILENCE).keepalives_interval(PROBES.0).keepalives_retries(PROBES.1);
    }
    Ok(settings)
}

/// Returns the name that other users of the database see, e.g. `plumb 4711 on h1`.
fn own_name() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match host.trim() {
        "" => format!("plumb {}", process::id()),
        host => format!("plumb {} on {host}", process::id()),
    }
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(String::from).map_err(|_| "a %-encoded part is not valid UTF-8".to_owned())
}

/// The message omits the text: without an @, it may be a password.
fn port(text: &str) -> Result<u16, String> {
    text.parse()
        .map_err(|_| "a port is not a number below 65536, or an @ is missing before the host".to_owned())
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    fn server(address: &str) -> ServerAddress {
        match Location::parse(Path::new(address)) {
            Ok(Location::Server(server)) => *server,
            other => panic!("{address}: {other:?}"),
        }
    }

    fn check(address: &str, shown: &str, hosts: &[(&str, u16)]) {
        let server = server(address);
        let found: Vec<_> = server.hosts.iter().map(|(host, port)| (host.as_str(), *port)).collect();
        assert_eq!(found, hosts, "{address}");
        assert_eq!(Location::Server(Box::new(server)).to_string(), shown);
    }

    #[test]
    fn displays_address_without_password() {
        check("postgres://u:secret@db.lab/runs", "postgres://u@db.lab/runs", &[("db.lab", 5432)]);
        check(
            "postgresql://u:se%2Fcret@a:1,[fd00::1]:2,[fd00::2]/runs",
            "postgres://u@a:1,[fd00::1]:2,[fd00::2]/runs",
            &[("a", 1), ("fd00::1", 2), ("fd00::2", 5432)],
        );
        check("postgres://%2Frun%2Fpg/runs", "postgres://%2Frun%2Fpg/runs", &[("/run/pg", 5432)]);
        check(
            "postgres:///runs?host=/run/pg&port=7&user=u&password=secret",
            "postgres:///run/pg/runs",
            &[("/run/pg", 7)],
        );
        check("postgres:///runs", "postgres:///runs", &[(SOCKETS, 5432)]);
        let server = server("postgres://u:se%40cret@h/runs?application_name=mine");
        assert_eq!(server.settings.get_password(), Some(&b"se@cret"[..]));
        assert_eq!(server.settings.get_application_name(), Some("mine"));
        assert!(!format!("{server:?}").contains("cret"), "{server:?}");
    }

    #[test]
    fn rejects_invalid_addresses_without_showing_passwords() {
        for (address, part) in [
            ("postgres://u:se@cret@h/runs", "%40"),
            ("postgres://u:sec/ret@h/runs", "%2F"),
            ("postgres://u:sec?ret@h/runs", "%3F"),
            ("postgres://u:secret", "an @ is missing"),
            ("postgres://h/runs?password=sec@ret", "%40"),
            ("postgres://h:65536/runs", "65536"),
            ("postgres://[fd00::1/runs", "bracket"),
            ("postgres://h/runs?sslmode=verify-ca", "verify-full"),
            ("postgres://h/runs?sslmode=verify-full", "sslrootcert=FILE"),
            ("postgres://h/runs?sslmode=require&sslrootcert=ca.pem", "requires sslmode=verify-full"),
            ("postgres://h/runs?colour=red", "colour"),
            ("postgres://h/runs?sslmode", "no value"),
            ("postgress://u:secret@h/runs", "a scheme other than"),
            ("POSTGRES://u:secret@h/runs", "a scheme other than"),
            ("\"postgres://u:secret@h/runs\"", "a scheme other than"),
            ("postgres:/u:secret@h/runs", "`//` is missing"),
            ("postgresql:u:secret@h/runs", "`//` is missing"),
            ("host=h password=secret", "KEY=VALUE"),
            ("host = h password = secret", "KEY=VALUE"),
            ("password=secret", "KEY=VALUE"),
            ("'password'='secret'", "KEY=VALUE"),
            ("PASSWORD=secret host=h", "KEY=VALUE"),
            ("dbname=runs user=u", "KEY=VALUE"),
            ("Server=h;User Id=u;Pwd=secret", "KEY=VALUE"),
            ("/runs?user=u&password=secret", "KEY=VALUE"),
            ("u:secret@h:5432/runs", "before the user"),
            (" u:secret@h", "before the user"),
            ("//u:secret@h/runs", "before the user"),
            ("postgres//u:secret@h/runs", "before the user"),
            ("u:sec@ret@h/runs", "before the user"),
            (":secret@h/runs", "before the user"),
        ] {
            let message = Location::parse(Path::new(address)).expect_err(address).to_string();
            assert!(message.contains(part), "{address}: {message}");
            assert!(!message.contains("sec") && !message.contains("cret"), "{address}: {message}");
        }
    }

    #[test]
    fn refuses_password_in_bytes_that_are_not_utf8() {
        for address in [&b"host=h password=secret\xff"[..], b"u:secret\xff@h/runs"] {
            let message = Location::parse(Path::new(OsStr::from_bytes(address))).expect_err("an address");
            assert!(!message.to_string().contains("secret"), "{message}");
        }
    }

    #[test]
    fn treats_other_texts_as_files() {
        for file in [
            "runs.db",
            "./postgres:",
            "/srv/postgres:/runs.db",
            "",
            "runs@home.db",
            "a:b.db",
            "./u:p@h",
            "/srv/12:00@home/runs.db",
            "user.db",
            "run=5.db",
            "localhost=1.db",
        ] {
            assert!(matches!(Location::parse(Path::new(file)), Ok(Location::File(_))), "{file}");
        }
    }
}
