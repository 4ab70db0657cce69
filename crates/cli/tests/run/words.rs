//! Help, version, completions, manual pages.

use expect_test::expect;

use crate::support::{World, run};

#[test]
fn version() {
    let world = World::new();
    let ran = world.run(&["version"]);
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (0, concat!("deskhand ", env!("CARGO_PKG_VERSION"), "\n"), "")
    );
    for args in [["version", "--json"], ["--json", "version"], ["--json", "--version"]] {
        let ran = world.run(&args);
        assert_eq!(ran.json()["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!((ran.code, ran.json()["bridge"].clone()), (0, 1.into()));
    }
    let ran = run(world.command(&["version"]).env("DESKHAND_JSON", "1"));
    assert_eq!(ran.json()["name"], "deskhand");
    let ran = run(world.command(&["version"]).env("DESKHAND_JSON", "0"));
    assert!(ran.out.starts_with("deskhand "));
}

#[test]
fn no_command_and_help_print_help() {
    let world = World::new();
    for args in [&[][..], &["--help"], &["help"]] {
        let ran = world.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        for word in ["Usage: deskhand", "doctor", "callers", "Examples:", "DESKHAND_HOME"] {
            assert!(ran.out.contains(word), "{args:?}: {word}");
        }
        for hidden in ["serve-host", "desk-session", &*world.path().to_string_lossy()] {
            assert!(!ran.out.contains(hidden), "{args:?}: {hidden}");
        }
        assert!(!ran.out.contains('\x1b'));
    }
    assert!(world.run(&["--json", "--help"]).json()["help"].as_str().unwrap().contains("Usage"));
    let ran = world.run(&["call", "--help"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("[env: DESKHAND_TIMEOUT]") && ran.out.contains("deskhand call system_info"));
}

#[test]
fn completions_for_every_shell() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = world.run(&["completions", shell]);
        assert_eq!(ran.code, 0, "{shell}");
        assert!(ran.out.contains("describe") && !ran.out.contains("serve-host"), "{shell}");
        assert_eq!(world.run(&["completions", shell, "--json"]).json()["script"], ran.out, "{shell}");
    }
    assert_eq!(world.run(&["completions", "tcsh"]).code, 2);
    let script = world.path().join("deskhand.bash");
    std::fs::write(&script, world.run(&["completions", "bash"]).out).unwrap();
    let checked = std::process::Command::new("bash").arg("-n").arg(&script).status().unwrap();
    assert!(checked.success());
}

#[test]
fn manual_pages() {
    let world = World::new();
    let ran = world.run(&["man"]);
    assert!(ran.out.contains(".TH deskhand 1") && ran.out.contains("deskhand up"), "{}", ran.out);
    let dir = world.path().join("man");
    let ran = world.run(&["man", "--json", "-o", dir.to_str().unwrap()]);
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(ran.json()["pages"].as_array().unwrap().len(), names.len());
    expect![[r#"
        deskhand-abort.1
        deskhand-batch.1
        deskhand-call.1
        deskhand-callers-allow.1
        deskhand-callers-list.1
        deskhand-callers-remove.1
        deskhand-callers.1
        deskhand-completions.1
        deskhand-describe.1
        deskhand-desk-exec.1
        deskhand-desk-list.1
        deskhand-desk-start.1
        deskhand-desk-stop.1
        deskhand-desk-view.1
        deskhand-desk.1
        deskhand-doctor.1
        deskhand-down.1
        deskhand-evidence-list.1
        deskhand-evidence-open.1
        deskhand-evidence-show.1
        deskhand-evidence.1
        deskhand-man.1
        deskhand-resume.1
        deskhand-status.1
        deskhand-stop.1
        deskhand-tools.1
        deskhand-up.1
        deskhand-version.1
        deskhand.1"#]]
    .assert_eq(&names.join("\n"));
    let page = std::fs::read_to_string(dir.join("deskhand-desk-exec.1")).unwrap();
    assert!(page.contains("deskhand desk exec") && page.contains("Example"), "{page}");
}
