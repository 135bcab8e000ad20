//! A headless Chromium, controlled over a pair of pipes through the DevTools protocol
//! (<https://chromedevtools.github.io/devtools-protocol/>).

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(600);
/// Descriptors 3 and 4 carry the protocol.
const ON_PIPES: &str = "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
];

pub struct Chrome {
    child: Child,
    orders: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    number: u64,
    events: Vec<Value>,
    requests: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Chrome {
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("sh");
        command.args(["-c", ON_PIPES, "sh"]).args(FLAGS);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell starts");
        let orders = child.stdin.take().expect("piped");
        let mut printed = BufReader::new(child.stdout.take().expect("piped"));
        let (hear, messages) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while printed.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                let parsed = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message));
                if parsed.is_ok_and(|message| hear.send(message).is_err()) {
                    return;
                }
                message.clear();
            }
        });
        let (session, events, requests) = (None, Vec::new(), Vec::new());
        let mut chrome =
            Self { child, orders, messages, session, number: 0, events, requests, _profile: profile };
        let target = chrome.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = chrome.call("Target.attachToTarget", &attach);
        chrome.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Network.enable", "Runtime.enable"] {
            chrome.call(domain, &json!({}));
        }
        chrome
    }

    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let mut order = json!({"id": self.number, "method": method, "params": params});
        if let Some(session) = &self.session {
            order["sessionId"] = json!(session);
        }
        self.orders.write_all(&[order.to_string().as_bytes(), b"\0"].concat()).expect("Chromium runs");
        let begun = Instant::now();
        loop {
            let mut message = self.hear(begun);
            if message["id"] == json!(self.number) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    fn hear(&mut self, begun: Instant) -> Value {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        let message = self.messages.recv_timeout(left).expect("Chromium replies");
        if message.get("method").is_some() {
            if message["method"] == "Network.requestWillBeSent" {
                self.requests.extend(message["params"]["request"]["url"].as_str().map(str::to_owned));
            }
            self.events.push(message.clone());
        }
        message
    }

    pub fn open(&mut self, address: &str) {
        self.loads(|chrome| drop(chrome.call("Page.navigate", &json!({"url": address}))));
    }

    pub fn follow(&mut self, selector: &str) {
        let click = format!("document.querySelector({}).click()", json!(selector));
        self.loads(|chrome| drop(chrome.evaluate(&click)));
    }

    /// Waits for the new page, even if the old page is still loading.
    fn loads(&mut self, act: impl FnOnce(&mut Self)) {
        self.events.clear();
        act(self);
        let begun = Instant::now();
        let is_loaded = |events: &[Value]| {
            let mut after = events.iter().skip_while(|event| event["method"] != "Page.frameNavigated");
            after.any(|event| event["method"] == "Page.loadEventFired")
        };
        while !is_loaded(&self.events) {
            self.hear(begun);
        }
    }

    pub fn evaluate(&mut self, expression: &str) -> Value {
        let order = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut outcome = self.call("Runtime.evaluate", &order);
        assert!(outcome.get("exceptionDetails").is_none(), "{expression:.200}: {outcome}");
        outcome["result"]["value"].take()
    }

    pub fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.evaluate(expression) != json!(true) {
            assert!(begun.elapsed() < PATIENCE, "{expression} never holds: {}", self.text("body"));
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn text(&mut self, selector: &str) -> String {
        let text = self.evaluate(&format!("document.querySelector({})?.innerText ?? ''", json!(selector)));
        text.as_str().unwrap_or_default().to_owned()
    }

    pub fn count(&mut self, selector: &str) -> u64 {
        let count = self.evaluate(&format!("document.querySelectorAll({}).length", json!(selector)));
        count.as_u64().expect("a number")
    }

    pub fn as_a_phone(&mut self) {
        self.sized([390, 844], true);
    }

    pub fn sized(&mut self, [width, height]: [u32; 2], mobile: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Takes a screenshot. `medium` is `screen` or `print`, and `scheme` is `light` or `dark`.
    pub fn shown(&mut self, medium: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"media": medium, "features": features}));
    }

    pub fn without_scrollbars(&mut self) {
        self.call("Emulation.setScrollbarsHidden", &json!({"hidden": true}));
    }

    pub fn picture(&mut self) -> Vec<u8> {
        let taken = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        BASE64_STANDARD.decode(taken["data"].as_str().unwrap_or_default()).expect("a picture")
    }

    pub fn without_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    }

    pub fn requested_only(&self, origin: &str) {
        assert!(!self.requests.is_empty());
        let elsewhere: Vec<_> = self.requests.iter().filter(|asked| !asked.starts_with(origin)).collect();
        assert!(elsewhere.is_empty(), "{elsewhere:?}");
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
