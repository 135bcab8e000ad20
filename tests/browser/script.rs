//! Tests the script of a report: tooltips, hidden series, zooming and sorted tables.

use plumb_tests::{Chrome, WebServer};
use serde_json::{Value, json};

use crate::{
    kept::{self, PLAIN},
    pages::violations,
    sandbox,
};

const MOST: usize = 1 << 20;

const LAYERS: &str = "#layers-1 .on-screens";
fn log() -> String {
    let second = |second: u32| {
        let rate = if second < 60 { 10.0 } else { 18.0 } + f64::from(second * 7 % 5) / 10.0;
        let size = rate / 8.0 * 1e9 / f64::from(1 << 30);
        let end = second + 1;
        format!(
            "[  5] {second:3}.00-{end}.00 sec  {size:.2} GBytes  {rate:.1} Gbits/sec    0   1.00 MBytes\n"
        )
    };
    let seconds: String = (0..120).map(second).collect();
    format!(
        "Connecting to host 127.0.0.1, port 5201\n[  5] local 127.0.0.1 port 40000 connected to 127.0.0.1 port 5201\n\
         [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n{seconds}- - - - - - - - - -\n\
         [ ID] Interval           Transfer     Bitrate         Retr\n\
         [  5]   0.00-120.00 sec   196 GBytes  14.0 Gbits/sec    0             sender\n\
         [  5]   0.00-120.04 sec   196 GBytes  14.0 Gbits/sec                  receiver\n\niperf Done.\n"
    )
}

fn page() -> (plumb_tests::Sandbox, Chrome) {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let text = sandbox.succeed(&["report", "egress-1", "--format", "html"]).out;
    assert!(text.len() < MOST, "{} bytes", text.len());
    let file = sandbox.file("page.html", &text);
    let mut chrome = Chrome::start();
    chrome.open(&format!("file://{file}"));
    (sandbox, chrome)
}

fn series() -> (plumb_tests::Sandbox, Chrome) {
    let sandbox = sandbox();
    let _ = sandbox.succeed(&["import", &sandbox.file("client.log", &log())]);
    let file = sandbox.file("page.html", &sandbox.succeed(&["report", "latest", "--format", "html"]).out);
    let mut chrome = Chrome::start();
    chrome.open(&format!("file://{file}"));
    chrome.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; }); true");
    chrome.evaluate(
        "document.querySelector('[data-box]').closest('svg').scrollIntoView({block: 'center'}); true",
    );
    (sandbox, chrome)
}

fn pointer(chrome: &mut Chrome, kind: &str, [x, y]: [f64; 2]) {
    let button = if kind == "mouseMoved" { "none" } else { "left" };
    let buttons = u8::from(kind != "mouseReleased");
    chrome.call(
        "Input.dispatchMouseEvent",
        &json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1}),
    );
}

fn press(chrome: &mut Chrome, key: &str) {
    for kind in ["keyDown", "keyUp"] {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let kind = if text.is_empty() && kind == "keyDown" { "rawKeyDown" } else { kind };
        let code = match key {
            "ArrowRight" => 39,
            "End" => 35,
            "Escape" => 27,
            "Enter" => 13,
            " " => 32,
            other => other.bytes().next().map_or(0, u32::from),
        };
        chrome.call(
            "Input.dispatchKeyEvent",
            &json!({"type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code}),
        );
    }
}

fn middle(chrome: &mut Chrome, element: &str) -> [f64; 2] {
    let place = chrome.evaluate(&format!(
        "(() => {{ const it = {element}; it.scrollIntoView({{block: 'center'}});
            const box = it.getBoundingClientRect(); return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]; }})()"
    ));
    let [x, y] = [&place[0], &place[1]].map(|it| it.as_f64().expect("a number"));
    [x, y]
}

fn tip(chrome: &mut Chrome) -> String {
    let shown = chrome.evaluate("document.querySelector('.tip:not(.off)')?.innerText ?? ''");
    shown.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn values() {
    let (_sandbox, mut chrome) = page();
    let dot = format!("document.querySelectorAll('{LAYERS} [data-s=dot][data-v]')[1]");
    let value = chrome.evaluate(&format!("{dot}.dataset.v"));
    let at = middle(&mut chrome, &dot);
    pointer(&mut chrome, "mouseMoved", at);
    let printed = tip(&mut chrome);
    assert!(printed.contains(value.as_str().expect("text")) && printed.contains("Gbit/s"), "{printed}");
    assert!(printed.contains("node-to-node") && printed.contains("trial"), "its row and value: {printed}");
    let csv =
        chrome.evaluate("atob(document.querySelector('#layers-1 a[download$=csv]').href.split(',')[1])");
    let shown: f64 = value.as_str().and_then(|it| it.parse().ok()).expect("a number");
    let numbers = csv.as_str().expect("text").split([',', ' ', '\n']).filter_map(|it| it.parse::<f64>().ok());
    assert!(numbers.into_iter().any(|it| (it / 1e9 / shown - 1.0).abs() < 1e-3), "{shown} is in {csv}");
    pointer(&mut chrome, "mouseMoved", [1.0, 1.0]);
    assert_eq!(tip(&mut chrome), "");
    chrome.evaluate(&format!("document.querySelector('{LAYERS}').focus(); true"));
    press(&mut chrome, "ArrowRight");
    let first = tip(&mut chrome);
    press(&mut chrome, "ArrowRight");
    let second = tip(&mut chrome);
    press(&mut chrome, "End");
    let last = tip(&mut chrome);
    assert!(!first.is_empty() && first != second && second != last, "{first} {second} {last}");
    assert!(last.contains("pod-to-target"), "{last}");
    press(&mut chrome, "Escape");
    assert_eq!(tip(&mut chrome), "");
}

pub(crate) fn series_by_legend() {
    let (_sandbox, mut chrome) = page();
    let dots = format!(
        "[...document.querySelectorAll('{LAYERS} [data-s=dot]')].filter((it) => it.getClientRects().length)"
    );
    let count = |chrome: &mut Chrome| chrome.evaluate(&format!("{dots}.length")).as_u64().expect("a number");
    let before = count(&mut chrome);
    assert!(before > 3, "{before}");
    let key = format!("document.querySelector('{LAYERS} [data-k=dot]')");
    let at = middle(&mut chrome, &key);
    for kind in ["mousePressed", "mouseReleased"] {
        pointer(&mut chrome, kind, at);
    }
    assert_eq!(count(&mut chrome), 0);
    assert_eq!(chrome.evaluate(&format!("{key}.getAttribute('aria-pressed')")), json!("false"));
    chrome.evaluate(&format!("{key}.focus(); true"));
    press(&mut chrome, "Enter");
    assert_eq!(count(&mut chrome), before);
    let idle = chrome.evaluate(
        "[...document.querySelectorAll('svg.pc [data-k]')].filter((it) => it.getAttribute('role') !== 'button')
            .map((it) => it.textContent)",
    );
    assert_eq!(idle, json!([]));
}

fn ends(chrome: &mut Chrome) -> (f64, f64) {
    let ticks = chrome.evaluate(
        "[...document.querySelectorAll('.on-screens [data-box] [data-ticks] text')].map((it) => Number(it.textContent))",
    );
    let ticks: Vec<f64> = ticks.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    assert!(ticks.len() > 1, "{ticks:?}");
    (ticks[0], ticks[ticks.len() - 1])
}

pub(crate) fn zoom() {
    let (_sandbox, mut chrome) = series();
    let whole = ends(&mut chrome);
    let place = chrome.evaluate(
        "(() => { const svg = document.querySelector('.on-screens [data-box]').closest('svg');
            const [left, top, width, height] = svg.querySelector('[data-box]').dataset.box.split(' ').map(Number);
            const at = (share) => { const it = new DOMPoint(left + width * share, top + height / 2).matrixTransform(svg.getScreenCTM());
                return [it.x, it.y]; };
            return [at(0.4), at(0.5)]; })()",
    );
    let [from, to] = [0, 1].map(|end| [0, 1].map(|it| place[end][it].as_f64().expect("a number")));
    pointer(&mut chrome, "mouseMoved", from);
    let printed = tip(&mut chrome);
    assert!(printed.contains("time") && printed.lines().count() >= 2, "{printed}");
    pointer(&mut chrome, "mousePressed", from);
    pointer(&mut chrome, "mouseMoved", to);
    pointer(&mut chrome, "mouseReleased", to);
    let part = ends(&mut chrome);
    assert!(part.0 > whole.0 && part.1 < whole.1, "{part:?} of {whole:?}");
    assert!(chrome.text(".zoom").contains(" to "), "{}", chrome.text(".zoom"));
    let near = [(from[0] + to[0]) / 2.0, from[1]];
    pointer(&mut chrome, "mouseMoved", near);
    let printed = tip(&mut chrome);
    let time = printed.lines().last().and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    assert!(time.is_some_and(|time| time > 45.0 && time < 63.0), "{printed} {part:?}");
    let click = |chrome: &mut Chrome, name: &str| {
        chrome.evaluate(&format!("document.querySelector('.zoom [aria-label=\"{name}\"]').click(); true"));
    };
    click(&mut chrome, "Later");
    let later = ends(&mut chrome);
    assert!(later.0 > part.0 && later.1 > part.1, "{later:?} after {part:?}");
    click(&mut chrome, "Show all");
    assert_eq!(ends(&mut chrome), whole);
    chrome.evaluate("document.querySelector('.on-screens [data-box]').closest('svg').focus(); true");
    press(&mut chrome, "+");
    assert_ne!(ends(&mut chrome), whole);
    press(&mut chrome, "0");
    assert_eq!(ends(&mut chrome), whole);
}

pub(crate) fn sorted() {
    let (_sandbox, mut chrome) = page();
    chrome.evaluate(
        "window.rows = [...document.querySelectorAll('table')].filter((it) => it.querySelector('.sort')).find((it) =>
            [...it.querySelectorAll('thead th')].some((head) => head.textContent.startsWith('Received')));
         window.column = [...rows.querySelectorAll('thead th')].findIndex((head) => head.textContent.startsWith('Received'));
         window.cells = () => [...rows.tBodies[0].rows].map((row) => row.cells[column].textContent);
         window.head = () => rows.querySelectorAll('thead th')[column]; true",
    );
    let results = |chrome: &mut Chrome| {
        let results = chrome.evaluate("cells()");
        let number = |result: &Value| result.as_str()?.split_whitespace().next()?.parse::<f64>().ok();
        results
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| number(it).unwrap_or_else(|| panic!("{it}")))
            .collect::<Vec<_>>()
    };
    let came = results(&mut chrome);
    assert!(came.len() > 2, "{came:?}");
    let mut upwards = came.clone();
    upwards.sort_by(f64::total_cmp);
    chrome.evaluate("head().querySelector('button').focus(); true");
    press(&mut chrome, "Enter");
    assert_eq!(chrome.evaluate("head().getAttribute('aria-sort')"), json!("ascending"));
    assert_eq!(results(&mut chrome), upwards);
    press(&mut chrome, "Enter");
    let downwards: Vec<f64> = upwards.into_iter().rev().collect();
    assert_eq!(results(&mut chrome), downwards);
    press(&mut chrome, "Enter");
    assert_eq!(
        (results(&mut chrome), chrome.evaluate("head().getAttribute('aria-sort')")),
        (came, json!(null))
    );
}

pub(crate) fn units() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let page = sandbox.succeed(&["report", "egress-1", "--format", "html"]).out;
    let results =
        ["950 Mbit/s", "-", "1.2 Gbit/s (1.1 to 1.3)", "none", "3 kbit/s", "−2 Gbit/s", "1,712 kbit/s"];
    let rows: String =
        results.iter().map(|result| format!("<tr><td>x</td><td>{result}</td><td>y</td></tr>")).collect();
    let head = "<thead><tr><th>a</th><th>b</th><th>c</th></tr></thead>";
    let table = format!("<table id=\"units\">{head}<tbody>{rows}</tbody></table></main>");
    let file = sandbox.file("page.html", &page.replacen("</main>", &table, 1));
    let mut chrome = Chrome::start();
    chrome.open(&format!("file://{file}"));
    chrome.evaluate("document.querySelectorAll('#units button')[1].click(); true");
    let sorted = chrome
        .evaluate("[...document.querySelectorAll('#units tbody tr')].map((it) => it.cells[1].textContent)");
    let expected =
        ["−2 Gbit/s", "3 kbit/s", "1,712 kbit/s", "950 Mbit/s", "1.2 Gbit/s (1.1 to 1.3)", "none", "-"];
    assert_eq!(sorted, json!(expected));
}

pub(crate) fn accessible() {
    for (sandbox, mut chrome) in [page(), series()] {
        for is_a_phone in [false, true] {
            if is_a_phone {
                chrome.as_a_phone();
                let width = chrome.evaluate("document.documentElement.scrollWidth");
                assert!(width.as_f64().is_some_and(|width| width <= 390.0), "{width} wide");
            }
            assert_eq!(violations(&mut chrome), json!([]), "as a phone: {is_a_phone}");
        }
        drop(sandbox);
    }
}

pub(crate) fn hostile() {
    let sandbox = sandbox();
    let name = "<img src=x onerror=\"document.title='run'\">]]>";
    let rows = ["1", "2", "3"].map(|number| format!("| {name}{number} | {number}.5 |\n")).concat();
    let table = sandbox.file("t.md", &format!("| Setting | Rate (Gbit/s) |\n| --- | --- |\n{rows}"));
    let _ = sandbox.succeed(&["import", &table]);
    let file = sandbox.file("page.html", &sandbox.succeed(&["report", "latest", "--format", "html"]).out);
    let mut chrome = Chrome::start();
    chrome.open(&format!("file://{file}"));
    let reported = chrome.evaluate(
        "[...document.querySelectorAll('.on-screens [data-v]')].map((mark) => {
            mark.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,
                clientX: mark.getBoundingClientRect().x + 1, clientY: mark.getBoundingClientRect().y + 1}));
            return document.querySelector('.tip').textContent; }).join()",
    );
    assert!(
        reported.as_str().is_some_and(|reported| reported.contains("<img")),
        "names stay text: {reported}"
    );
    chrome.evaluate("document.querySelectorAll('.sort').forEach((it) => it.click()); true");
    assert!(chrome.count(".sort") > 0);
    assert_ne!(chrome.evaluate("document.title"), json!("run"));
    assert_eq!((chrome.count("img"), chrome.count("script:not([type])")), (0, 1));
}

pub(crate) fn served() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.open(&format!("{}/runs/egress-1", server.origin));
    assert!(chrome.count(".sort") > 0 && chrome.count("svg.pc [role=button]") > 0);
    let ran = chrome.evaluate(
        "(() => { const other = document.createElement('script'); other.textContent = 'window.ran = true';
            document.body.append(other); return window.ran ?? false; })()",
    );
    assert_eq!(ran, json!(false), "its policy lets no other script run");
    let policy = server.get("/runs/egress-1");
    let policy = policy.lines().find(|line| line.starts_with("content-security-policy")).expect("a policy");
    assert!(policy.contains("script-src 'sha256-") && !policy.contains("script-src 'unsafe"), "{policy}");
    chrome.requested_only(&server.origin);
    server.end();
}
