//! The words on the wire: unique, stable, and refused when they are wrong.

use std::collections::HashSet;

use deskhand_protocol::{
    CallParams, Category, Decision, Error, ErrorCode, Point, Rect, Role, Route, RpcError, Selector, Target,
};
use serde_json::json;

#[test]
fn every_error_code_has_one_word_a_hint_and_survives_the_wire() {
    let mut words = HashSet::new();
    for code in ErrorCode::ALL {
        assert!(words.insert(code.as_str()), "{code} is there twice");
        assert!(code.as_str().starts_with("DESKTOP_") && !code.default_hint().is_empty(), "{code}");
        assert_eq!(serde_json::to_value(code).unwrap(), json!(code.as_str()));
        assert_eq!(serde_json::from_value::<ErrorCode>(json!(code.as_str())).unwrap(), *code);
    }
    let seed = [
        "HOST_NOT_RUNNING",
        "PERMISSION_MISSING",
        "AX_TRAVERSAL_LIMIT",
        "TIMEOUT",
        "ELEMENT_NOT_FOUND",
        "CONFIRM_REQUIRED",
        "ABORTED",
        "MODAL_BLOCKING",
        "FOCUS_LOST",
        "STALE_SNAPSHOT",
    ];
    for word in seed {
        assert!(words.contains(format!("DESKTOP_{word}").as_str()), "{word} of the host seed is missing");
    }
}

#[test]
fn an_error_carries_its_code_hint_and_facts() {
    let error = Error::new(ErrorCode::OutOfRange, "x=9").hint("less").detail("field", "x");
    let value = serde_json::to_value(&error).unwrap();
    assert_eq!(
        value,
        json!({"code": "DESKTOP_OUT_OF_RANGE", "message": "x=9", "hint": "less", "retryable": false, "details": {"field": "x"}})
    );
    assert_eq!(RpcError::from(error).code, -32000);
}

#[test]
fn roles_and_categories_have_words_of_their_own() {
    let words: HashSet<_> = Role::ALL.iter().map(|r| r.as_str()).collect();
    let ax: HashSet<_> = Role::ALL.iter().map(|r| r.ax_name()).collect();
    assert_eq!((words.len(), ax.len()), (Role::ALL.len(), Role::ALL.len()));
    for role in Role::ALL {
        assert_eq!(serde_json::to_value(role).unwrap(), json!(role.as_str()));
    }
    let names: HashSet<_> = Category::ALL.iter().flat_map(|c| [c.names().0, c.names().1]).collect();
    assert_eq!(names.len(), Category::ALL.len() * 2);
}

#[test]
fn decisions_are_ordered_from_loose_to_tight() {
    let order =
        [Decision::AutoApprove, Decision::NotifyOnly, Decision::RequireApproval, Decision::AlwaysBlock];
    assert!(order.is_sorted());
    assert_eq!(order.into_iter().max(), Some(Decision::AlwaysBlock));
}

#[test]
fn rectangles() {
    let r = Rect::new(10, 20, 30, 40);
    let cases = [
        (Point::new(10, 20), true),
        (Point::new(39, 59), true),
        (Point::new(40, 59), false),
        (Point::new(39, 60), false),
        (Point::new(9, 20), false),
    ];
    for (p, inside) in cases {
        assert_eq!(r.contains(p), inside, "{p:?}");
    }
    assert_eq!(r.intersect(&Rect::new(0, 0, 15, 25)), Some(Rect::new(10, 20, 5, 5)));
    assert_eq!(r.intersect(&Rect::new(0, 0, 10, 20)), None);
    assert_eq!(r.union(&Rect::new(0, 0, 1, 1)), Rect::new(0, 0, 40, 60));
    assert_eq!(Rect::new(i32::MAX - 1, 0, 10, 10).right(), i32::MAX, "edges do not overflow");
}

#[test]
fn wrong_fields_are_refused() {
    assert!(serde_json::from_value::<Route>(json!({"windw": {}})).is_err());
    assert!(serde_json::from_value::<Selector>(json!({"byTitle": {"equal": "x"}})).is_err());
    assert!(serde_json::from_value::<Target>(json!({"point": {}})).is_err());
    let call = json!({"nonce": "0123456789abcdef", "expiresAt": 1, "tool": "t", "extra": 1});
    assert!(serde_json::from_value::<CallParams>(call).is_err());
    let route: Route =
        serde_json::from_value(json!({"app": {"bundleId": "x"}, "window": {"titlePattern": "y"}, "display": {"displayId": 1}, "focusPolicy": "failIfNotFocused"}))
            .unwrap();
    assert_eq!(route.display.and_then(|d| d.display_id), Some(1));
}
