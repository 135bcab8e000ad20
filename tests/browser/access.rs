//! Tests which readers and addresses have access to pages.

use std::{
    fs::{self, Permissions},
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    process::Command,
};

use plumb_tests::{Chrome, PATIENCE, Sandbox, WebServer, on_loopback};

use crate::{
    kept::{self, PLAIN},
    sandbox,
};

const ADDRESS: &str = "198.18.0.1";

pub(crate) fn token() {
    let there = on_loopback(|| {
        let added = Command::new("ip").args(["address", "add", ADDRESS, "dev", "lo"]).status();
        assert!(added.is_ok_and(|status| status.success()), "an address of our own");
        off_loopback();
    });
    assert!(there.is_some(), "root can make namespaces");
}

fn off_loopback() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let server = WebServer::at(&format!("{ADDRESS}:7373"), &sandbox, &[]);
    let token = server.token.clone().expect("it made one");
    let host = format!("Host: {ADDRESS}:7373\r\n");
    for page in [
        "/",
        "/runs/egress-1",
        "/runs/egress-1/download/raw",
        "/runs/egress-1/events",
        "/compare",
        "/metrics",
    ] {
        let answer = server.get(page);
        assert!(answer.starts_with("HTTP/1.1 401") && !answer.contains("node-to-node"), "{page}: {answer}");
    }
    let shown = |token: &str| server.answer("GET /", &format!("{host}Authorization: Bearer {token}\r\n"), "");
    assert!(shown(&token).contains("egress-1"));
    let metrics = server.answer("GET /metrics", &format!("{host}Authorization: Bearer {token}\r\n"), "");
    assert!(
        metrics.contains("plumb_store_runs{scenario=\"egress-gateway\",state=\"complete\"} 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("plumb_store_last_run_timestamp_seconds{scenario=\"egress-gateway\"}"),
        "{metrics}"
    );
    for wrong in ["", "x", &token[1..], &format!("{token}x")] {
        assert!(shown(wrong).starts_with("HTTP/1.1 401"), "{wrong}");
    }
    let mut chrome = Chrome::start();
    chrome.open(&format!("{}/runs/egress-1", server.origin));
    assert!(chrome.text("main").contains("Sign in"), "{}", chrome.text("main"));
    chrome.evaluate("document.querySelector('#token').value = 'certainly-not-the-token'");
    chrome.follow("button");
    assert!(chrome.text("[role=alert]").contains("Wrong token"));
    chrome.evaluate(&format!("document.querySelector('#token').value = '{token}'"));
    chrome.follow("button");
    assert!(chrome.text("main").contains("Cost of each layer"), "{}", chrome.text("main"));
    assert!(!chrome.evaluate("document.cookie").to_string().contains("plumb"), "no script sees the cookie");
    chrome.requested_only(&server.origin);
    server.end();
}

pub(crate) fn refused() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let server = WebServer::start(&sandbox, &["--name", "plumb.example.org"]);
    let host = server.origin.trim_start_matches("http://").to_owned();
    let port = host.rsplit(':').next().expect("a port").to_owned();
    let check = |request: &str, head: &str, body: &str, status: &str| {
        let answer = server.answer(request, head, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request} {head}: {answer:.300}");
        answer
    };
    let rebound = check("GET /", &format!("Host: evil.example.org:{port}\r\n"), "", "421");
    assert!(!rebound.contains("egress-1"));
    check("GET /", "", "", "421");
    check("GET /", &format!("Host: localhost:{port}\r\n"), "", "200");
    check("GET /", "Host: plumb.example.org\r\n", "", "200");
    let form = format!("Content-Type: {FORM}\r\n");
    let ours = format!("Origin: http://{host}\r\n");
    let sign_in = |origin: &str, body: &str, status: &str| {
        check("POST /sign-in", &format!("Host: {host}\r\n{form}{origin}"), body, status)
    };
    sign_in("", "token=x", "403");
    sign_in("Origin: http://evil.example.org\r\n", "token=x", "403");
    sign_in("Origin: null\r\n", "token=x", "403");
    sign_in(&ours, "token=x", "303");
    sign_in(&ours, &format!("token={}", "x".repeat(100_000)), "413");
    check("DELETE /runs/egress-1", &format!("Host: {host}\r\nOrigin: http://{host}\r\n"), "", "405");
    let answer = server.get("/");
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: same-origin",
        "cache-control: no-store",
    ] {
        assert!(answer.contains(header), "{header}: {answer:.900}");
    }
    let report = server.get("/runs/egress-1");
    assert!(report.contains("content-security-policy: default-src 'none'"), "{report:.900}");
    server.end();
}

/// Sends every method to every route, and to paths that might start a run.
pub(crate) fn starts_nothing() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let runs = || sandbox.succeed(&["runs", "list", "--json"]).out;
    let before = runs();
    let token = sandbox.secret("token", TOKEN);
    let attacks = [
        (FORM, "scenario=quick&run=quick&token=x"),
        ("application/json", r#"{"scenario": "quick", "run": "quick"}"#),
        ("text/plain", "quick"),
    ];
    for arguments in [&[][..], &["--token-file", &token]] {
        let server = WebServer::start(&sandbox, arguments);
        let cookie = if arguments.is_empty() { String::new() } else { signed_in(&server) };
        for (path, method) in PATHS.iter().flat_map(|path| METHODS.map(|method| (path, method))) {
            for (kind, body) in attacks {
                let request = format!("{method} {path}?scenario=quick&run=quick");
                let head = head(&server, &cookie).replace(FORM, kind);
                let answer = server.answer(&request, &head, body);
                let may_change = matches!(method, "GET" | "HEAD") || path.starts_with("/sign-");
                assert!(may_change || answer.starts_with("HTTP/1.1 4"), "{request} {kind}: {answer:.300}");
                assert_eq!(server.children(), "", "{request} {kind}: {answer:.300}");
            }
        }
        server.end();
    }
    assert_eq!(runs(), before);
    let allowed = sandbox.plumb(&["web", "--listen", "127.0.0.1:0", "--allow-run"]);
    assert_eq!(allowed.status, Some(64), "{allowed:?}");
}

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "RUN"];
const PATHS: [&str; 17] = [
    "/",
    "/runs",
    "/runs/egress-1",
    "/runs/egress-1/download/raw",
    "/runs/egress-1/events",
    "/runs/egress-1/history",
    "/runs/egress-1/live",
    "/runs/quick",
    "/compare",
    "/compare/download/json",
    "/metrics",
    "/static/live.js",
    "/start",
    "/started/0",
    "/run",
    "/sign-in",
    "/sign-out",
];

fn chmod(file: &str, mode: u32) {
    fs::set_permissions(file, Permissions::from_mode(mode)).expect("own file");
}

const FORM: &str = "application/x-www-form-urlencoded";
const TOKEN: &str = "a-token-that-is-long-enough";

pub(crate) fn token_file() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let short = sandbox.secret("short", "hunter2\n");
    let refused = sandbox.plumb(&["web", "--listen", "127.0.0.1:0", "--token-file", &short]);
    assert!(refused.status == Some(64) && refused.err.contains("7 characters"), "{refused:?}");
    let missing = sandbox.plumb(&["web", "--listen", "127.0.0.1:0", "--token-file", "nowhere"]);
    assert!(missing.status == Some(1) && missing.err.contains("nowhere"), "{missing:?}");
    let file = sandbox.secret("token", TOKEN);
    for mode in [0o604, 0o644, 0o660, 0o666] {
        chmod(&file, mode);
        let refused = sandbox.plumb(&["web", "--listen", "127.0.0.1:0", "--token-file", &file]);
        let hint = refused.err.contains("other users can read it") && refused.err.contains("chmod 600");
        assert!(refused.status == Some(64) && hint, "{mode:o}: {refused:?}");
    }
    chmod(&file, 0o600);
    let server = WebServer::start(&sandbox, &["--token-file", &file]);
    assert!(server.get("/").starts_with("HTTP/1.1 401"));
    let host = server.origin.trim_start_matches("http://").to_owned();
    let shown = format!("Host: {host}\r\nAuthorization: Bearer {TOKEN}\r\n");
    assert!(server.answer("GET /", &shown, "").contains("egress-1"));
    server.end();
}

fn head(server: &WebServer, cookie: &str) -> String {
    let origin = &server.origin;
    let host = origin.trim_start_matches("http://");
    format!("Host: {host}\r\nOrigin: {origin}\r\nContent-Type: {FORM}\r\nCookie: {cookie}\r\n")
}

fn signed_in(server: &WebServer) -> String {
    let answer = server.answer("POST /sign-in", &head(server, ""), &format!("token={TOKEN}"));
    let (_, cookie) = answer.split_once("set-cookie: ").unwrap_or_else(|| panic!("{answer}"));
    cookie.split(';').next().expect("a value").to_owned()
}

pub(crate) fn cookies() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let file = sandbox.secret("token", TOKEN);
    let server = WebServer::start(&sandbox, &["--token-file", &file]);
    let reads = |server: &WebServer, cookie: &str| {
        server.answer("GET /", &head(server, cookie), "").contains("egress-1")
    };
    let [first, second] = [signed_in(&server), signed_in(&server)];
    assert!(first != second && reads(&server, &first) && reads(&server, &second));
    // Signing out invalidates all copies of this cookie, but no other cookies.
    let answer = server.answer("POST /sign-out", &head(&server, &first), "");
    assert!(answer.contains("HTTP/1.1 303") && answer.contains("Max-Age=0"), "{answer}");
    assert!(!reads(&server, &first) && reads(&server, &second));
    server.end();
    let restarted = WebServer::start(&sandbox, &["--token-file", &file]);
    let port = |server: &WebServer| server.origin.rsplit(':').next().expect("a port").to_owned();
    let (_, value) = second.split_once('=').expect("a name and a value");
    let old = format!("plumb-web-{}={value}", port(&restarted));
    assert!(!reads(&restarted, &old), "valid after a restart");
    assert!(reads(&restarted, &signed_in(&restarted)));
    restarted.end();
}

pub(crate) fn guesses() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let file = sandbox.secret("token", TOKEN);
    for attack in ["form", "header", "both"] {
        let server = WebServer::start(&sandbox, &["--token-file", &file]);
        let cookie = signed_in(&server);
        let form =
            |token: &str| server.answer("POST /sign-in", &head(&server, ""), &format!("token={token}"));
        let bearer = |token: &str| {
            server.answer("GET /", &format!("{}Authorization: Bearer {token}\r\n", head(&server, "")), "")
        };
        let guess = |number: usize| match attack {
            "form" => form("wrong"),
            "header" => bearer("wrong"),
            _ if number.is_multiple_of(2) => form("wrong"),
            _ => bearer("wrong"),
        };
        let refused = (0..100).map(guess).filter(|answer| answer.starts_with("HTTP/1.1 429")).count();
        assert!(refused > 0, "{attack}: 100 wrong tokens were compared");
        assert!(server.answer("GET /", &head(&server, &cookie), "").contains("egress-1"), "{attack}");
        let curl = Command::new("curl")
            .args(["--silent", "--interface", "127.0.0.2", "--header"])
            .args([&format!("Authorization: Bearer {TOKEN}"), &format!("{}/", server.origin)])
            .output()
            .expect("curl starts");
        assert!(String::from_utf8_lossy(&curl.stdout).contains("egress-1"), "{attack}: {curl:?}");
        server.end();
    }
}

fn certificate(sandbox: &Sandbox, name: &str) -> [String; 2] {
    plumb_tests::certificate(sandbox, name, "IP:127.0.0.1,DNS:localhost")
}

pub(crate) fn encrypted() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let [cert, key] = certificate(&sandbox, "own");
    let [other, _] = certificate(&sandbox, "other");
    let token = sandbox.secret("token", TOKEN);
    let server =
        WebServer::start(&sandbox, &["--tls-cert", &cert, "--tls-key", &key, "--token-file", &token]);
    let place = server.origin.strip_prefix("https://").expect("the address uses https").to_owned();
    let curl = |arguments: &[&str]| {
        let shared = ["--silent", "--show-error", "--include", "--max-time", "600"];
        let done = Command::new("curl").args(shared).args(arguments).output().expect("curl starts");
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let shown = "Authorization: Bearer a-token-that-is-long-enough";
    let page = format!("{}/", server.origin);
    let (status, answer) = curl(&["--cacert", &cert, "--header", shown, &page]);
    assert!(status == Some(0) && answer.contains("200 OK") && answer.contains("egress-1"), "{answer}");
    let (status, answer) = curl(&["--cacert", &cert, "--tls-max", "1.2", &page]);
    assert!(status == Some(0) && answer.contains("401") && !answer.contains("egress-1"), "{answer}");
    // curl's exit status 60 means an unknown issuer.
    assert_eq!(curl(&["--cacert", &other, "--header", shown, &page]).0, Some(60));
    let mut plain = TcpStream::connect(&place).expect("it listens");
    let _ = write!(plain, "GET / HTTP/1.1\r\nHost: {place}\r\n{shown}\r\n\r\n");
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP"), "{answer:?}");
    let (_, signed_in) = curl(&[
        "--cacert",
        &cert,
        "--header",
        &format!("Origin: {}", server.origin),
        "--data",
        "token=a-token-that-is-long-enough&wanted=/",
        &format!("{page}sign-in"),
    ]);
    let cookie =
        signed_in.lines().find(|line| line.to_lowercase().starts_with("set-cookie")).expect("a cookie");
    assert!(cookie.contains("; Secure") && cookie.contains("HttpOnly"), "{cookie}");
    let mut chrome = Chrome::start();
    chrome.call("Security.setIgnoreCertificateErrors", &serde_json::json!({"ignore": true}));
    chrome.open(&format!("{}/runs/egress-1", server.origin));
    chrome.evaluate("document.querySelector('#token').value = 'a-token-that-is-long-enough'");
    chrome.follow("button");
    assert!(chrome.text("main").contains("Cost of each layer"), "{}", chrome.text("main"));
    chrome.requested_only(&server.origin);
    server.end();
}

/// Attackers send nothing, or only the first bytes of a TLS handshake.
pub(crate) fn silent_handshakes() {
    /// More connections than the server's total limit.
    const FLOOD: usize = 300;
    /// The start of a ClientHello that is never completed (RFC 8446, section 5.1).
    const BEGUN: &[u8] = &[22, 3, 1, 2, 0, 1, 0, 1, 252];
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let [cert, key] = certificate(&sandbox, "own");
    let server = WebServer::start(&sandbox, &["--tls-cert", &cert, "--tls-key", &key]);
    let place = server.origin.strip_prefix("https://").expect("it is encrypted");
    let page = format!("{}/", server.origin);
    for sent in [&[][..], BEGUN] {
        let connect = |_| {
            let mut stream = TcpStream::connect(place).expect("it listens");
            stream.write_all(sent).expect("it is connected");
            stream
        };
        let mut flood: Vec<_> = (0..FLOOD).map(connect).collect();
        for address in ["127.0.0.1", "127.0.0.2"] {
            let mut curl = Command::new("curl");
            let read = curl.args(["--silent", "--interface", address, "--cacert", &cert, &page]).output();
            let read = read.expect("curl starts");
            assert!(
                String::from_utf8_lossy(&read.stdout).contains("egress-1"),
                "{sent:?} {address}: {read:?}"
            );
        }
        let mut last = flood.pop().expect("some");
        last.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let end = last.read_to_end(&mut Vec::new());
        let is_open = end.is_err_and(|error| error.kind() != std::io::ErrorKind::ConnectionReset);
        assert!(!is_open, "{sent:?}: a silent connection stays open");
    }
    server.end();
}

pub(crate) fn unfit_certificates() {
    let sandbox = sandbox();
    let [cert, key] = certificate(&sandbox, "own");
    let [_, foreign] = certificate(&sandbox, "other");
    let nothing = sandbox.secret("nothing", "nothing\n");
    let open = sandbox.file("open", &fs::read_to_string(&key).expect("PEM"));
    chmod(&open, 0o644);
    for (cert, key, status, printed) in [
        (&cert, &foreign, 64, "do not match"),
        (&nothing, &key, 64, "no PEM certificate"),
        (&cert, &nothing, 64, "no unencrypted PEM private key"),
        (&cert, &open, 64, "other users can read it"),
        (&cert, &"nowhere".to_owned(), 1, "nowhere"),
    ] {
        let refused =
            sandbox.plumb(&["web", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key]);
        assert!(refused.status == Some(status) && refused.err.contains(printed), "{cert} {key}: {refused:?}");
    }
    let alone = sandbox.plumb(&["web", "--listen", "127.0.0.1:0", "--tls-cert", &cert]);
    assert!(alone.status == Some(64) && alone.err.contains("--tls-key"), "{alone:?}");
}
