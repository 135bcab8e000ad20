//! Turns the flags of `plumb server` into its configuration.

use anyhow::Result;
use server::{Auth, Config, Limits};

use super::flags::ServerArgs;
use crate::{bounded_file, failure::Misuse};

pub(super) fn config(args: &ServerArgs) -> Result<Config> {
    let limits = &args.limits;
    Ok(Config {
        allow: args.listen.allow.clone(),
        limits: Limits {
            clients: limits.max_clients,
            clients_of_address: limits.max_clients_per_address,
            rate: limits.max_rate,
            duration: limits.max_duration,
            bytes: limits.max_bytes,
        },
        queue: limits.queue,
        once: args.operation.once,
        auth: auth(args)?,
        idle_timeout: limits.idle_timeout.unwrap_or_default(),
        ..Config::new(server::addresses(&args.listen.bind, args.listen.port))
    })
}

fn auth(args: &ServerArgs) -> Result<Option<Auth>> {
    let login = &args.login;
    let (Some(key), Some(users)) = (&login.rsa_private_key_path, &login.authorized_users_path) else {
        return Ok(None);
    };
    let skew = login.time_skew_threshold;
    Ok(Some(Auth {
        private_key: named("the private key", bounded_file::read_secret(key))?,
        users: named("the list of users", bounded_file::read_trusted(users))?,
        skew,
    }))
}

fn named(what: &str, text: Result<String>) -> Result<String> {
    text.map_err(|error| match error.downcast::<Misuse>() {
        Ok(misuse) => misuse.into(),
        Err(error) => Misuse::new(format!("{what}: {}", watch::causes(&error))).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use units::{BitRate, Bytes, Nanos};

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: ServerArgs,
    }

    fn parsed(line: &str) -> Result<Config, String> {
        let words = ["server"].into_iter().chain(line.split_whitespace());
        let parsed = Typed::try_parse_from(words).map_err(|error| error.to_string())?;
        config(&parsed.args).map_err(|error| error.to_string())
    }

    #[test]
    fn applies_every_flag() {
        let config =
            parsed("-p 7000 -B 198.18.0.2 -B ::1 --allow 198.18.0.0/15 --max-clients 3 --max-rate 1G")
                .expect("valid");
        let places: Vec<String> = config.listen.iter().map(ToString::to_string).collect();
        assert_eq!(places, ["198.18.0.2:7000", "[::1]:7000"]);
        assert_eq!(config.allow, [("198.18.0.0".parse().expect("valid"), 15)]);
        assert_eq!((config.limits.clients, config.limits.rate), (3, Some(BitRate(1e9))));
        let config = parsed("--max-clients-per-address 2").expect("valid");
        assert_eq!(config.limits.clients_of_address, Some(2));
        let config = parsed("--max-duration 5 --max-bytes 1G --queue -1 --idle-timeout 3").expect("valid");
        assert_eq!(
            (config.limits.duration, config.limits.bytes),
            (Nanos::from_secs(5), Some(Bytes(1 << 30)))
        );
        assert!(config.queue && config.once && config.auth.is_none());
        assert_eq!(config.idle_timeout, Nanos::from_secs(3));
        assert!(config.listen.contains(&"0.0.0.0:5201".parse().expect("valid")));
    }

    #[test]
    fn refuses_invalid_flags() {
        for (line, word) in [
            ("--max-clients 0", "1 to 1024"),
            ("--max-rate 0", "remove the flag"),
            ("--allow everyone", "everyone"),
            ("--rsa-private-key-path k.pem", "--authorized-users-path"),
            ("--rsa-private-key-path /no/k.pem --authorized-users-path /no/users", "/no/k.pem"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(word), "{line}: {error}");
        }
    }
}
