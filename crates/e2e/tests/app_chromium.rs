//! Chromium: a form found by the page's own ids, text in any script, links, boxes, a large page.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{App, AppDesk, inside, mixed, rect, same_text};
use deskhand_protocol::{Effect, ErrorCode};
use serde_json::json;

const FORM: &str = r#"<!doctype html><meta charset=utf-8><title>Form page</title><body style="font:16px sans-serif">
<form onsubmit="return false"><p><label>Name <input id=who></label>
<p><label><input type=checkbox id=agree onchange="document.title=this.checked?'Agreed':'Not agreed'"> I agree</label>
<p><label for=note>Note</label><br><textarea id=note rows=8 cols=60></textarea>
<p><button id=send type=button onclick="document.getElementById('out').textContent='Sent: '+document.getElementById('who').value">Send</button>
<p id=out>nothing yet</p><p><a id=jump href="second.html">To the second page</a></form>"#;

fn browser<'a>(desk: &'a AppDesk, page: &str, html: &str, title: &str) -> App<'a> {
    let file = desk.files().join(page);
    std::fs::write(&file, html).unwrap();
    let profile = format!("--user-data-dir={}", desk.files().join("profile").display());
    let url = format!("file://{}", file.display());
    desk.launch("chromium", &["--no-sandbox", "--no-first-run", "--disable-gpu", &profile, &url], title)
}

#[test]
fn a_form_is_filled_by_its_ids() {
    let desk = AppDesk::with(&["chromium"]);
    std::fs::write(
        desk.files().join("second.html"),
        "<!doctype html><meta charset=utf-8><title>Second page</title><h1>Arrived</h1>",
    )
    .unwrap();
    let app = browser(&desk, "form.html", FORM, "Form page");
    let who = json!({"byIdentifier": "who"});
    let found = app.find(who.clone());
    assert!(found["candidates"][0]["reasons"].to_string().contains("identifier"), "{found}");
    assert!(inside(rect(&found["candidates"][0]["element"]["rect"]), app.bounds()));

    let name = "王小明 😀 Ω";
    app.confirmed("type_text", json!({"text": name, "target": {"selector": who}}));
    same_text(&app.text(who), name);
    app.click(json!({"byIdentifier": "send"}));
    app.find(json!({"byTitle": {"contains": "Sent: 王小明"}}));

    app.click(json!({"byRole": "check_box", "byLabel": {"contains": "agree"}}));
    desk.window("Agreed");
    app.click(json!({"byIdentifier": "agree"}));
    desk.window("Not agreed");

    let note = json!({"byIdentifier": "note"});
    let lines = "第一行\nsecond 😀\nthird";
    app.confirmed("type_text", json!({"text": lines, "target": {"selector": note}}));
    same_text(&app.text(note), lines);

    let jumped = app.done(
        "click",
        json!({"target": {"selector": {"byRole": "link", "byTitle": {"contains": "second page"}}}}),
    );
    assert_eq!(jumped.effect.unwrap().effect, Effect::Confirmed);
    desk.window("Second page");
    app.find(json!({"byRole": "heading", "byTitle": {"equals": "Arrived"}}));
}

#[test]
fn two_thousand_characters_arrive() {
    let desk = AppDesk::with(&["chromium"]);
    let app = browser(&desk, "form.html", FORM, "Form page");
    let note = json!({"byIdentifier": "note"});
    let long = mixed(2000, 70);
    app.confirmed("type_text", json!({"text": long, "target": {"selector": note}}));
    same_text(&app.text(note), &long);
}

#[test]
fn a_large_page_is_read_whole_and_within_bounds() {
    let desk = AppDesk::with(&["chromium"]);
    let rows: String = (0..440)
        .map(|i| format!("<li><a id=l{i} href='#{i}'>Link number {i}</a> and text {i}</li>"))
        .collect();
    let html = format!("<!doctype html><meta charset=utf-8><title>Large page</title><ul>{rows}</ul>");
    let app = browser(&desk, "large.html", &html, "Large page");
    let whole = desk.until("the whole page in the tree", || {
        let args = json!({"maxNodes": 8000, "maxWallTimeMs": 30_000, "visibleOnly": false, "maxDepth": 60});
        let tree = app.done("dump_ax_tree", args).result?;
        (tree["count"].as_u64()? > 1700).then_some(tree)
    });
    assert!(whole["truncated"].is_null(), "{}", whole["truncated"]);
    let cut = app.done("dump_ax_tree", json!({"maxNodes": 100, "visibleOnly": false})).result.unwrap();
    assert_eq!(cut["count"], 100);
    assert_eq!(cut["truncated"]["limit"], "maxNodes");
    assert_eq!(cut["truncated"]["code"], "DESKTOP_AX_TRAVERSAL_LIMIT");
    let shallow = app.done("dump_ax_tree", json!({"maxDepth": 2, "visibleOnly": false})).result.unwrap();
    assert_eq!(shallow["truncated"]["limit"], "maxDepth");
    // One of the last links, far below the fold: found when asked for, and a click brings it into view.
    let last = json!({"byIdentifier": "l431"});
    let hidden = app.refused("find", json!({"selector": last}));
    assert_eq!(hidden.code, ErrorCode::ElementNotFound);
    let found = app.done("find", json!({"selector": last, "visibleOnly": false})).result.unwrap();
    let clicked = app.done("click", json!({"target": {"elementRef": found["chosen"]}}));
    assert_eq!(clicked.effect.unwrap().effect, Effect::Confirmed);
    app.find(last);
}
