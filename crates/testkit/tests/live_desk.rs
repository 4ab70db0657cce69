//! The virtual desk of live tests, without any facet.

use std::path::Path;
use std::time::{Duration, Instant};

use deskhand_testkit::live::LiveDesk;

#[test]
fn applications_and_the_desk_end_together() {
    let desk = LiveDesk::new().unwrap();
    let script = desk.install_form().unwrap();
    let pid = desk.spawn("/usr/bin/python3", &[script.to_str().unwrap()]).unwrap();
    let dir = desk.dir().to_owned();
    let end = Instant::now() + Duration::from_secs(30);
    // The form is on the desk as soon as xwininfo finds it by its title.
    while !desk.command("xwininfo").args(["-name", "Conformance Form"]).output().unwrap().status.success() {
        assert!(Instant::now() < end, "the form does not show");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(desk);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "the form still runs");
    assert!(!dir.exists(), "{} is left behind", dir.display());
}
