//! The "must never contain" column of the design: who may not be linked into whom.

/// Crates that wait for the kernel, or make others wait.
const ASYNC: &[&str] = &["tokio", "async-std", "smol", "async-io", "futures*", "mio"];
/// Crates that speak to an operating system.
const OS: &[&str] = &[
    "rustix",
    "nix",
    "x11rb*",
    "xcb",
    "zbus*",
    "atspi*",
    "windows",
    "windows-core",
    "objc2*",
    "core-foundation*",
    "accessibility*",
];
/// Crates that speak to a network.
const NET: &[&str] = &[
    "hyper*",
    "reqwest",
    "axum*",
    "ureq*",
    "h2",
    "h3",
    "curl*",
    "isahc",
    "tungstenite",
    "tokio-tungstenite",
    "rustls",
    "native-tls",
    "openssl*",
    "socket2",
];
/// The local database.
const SQLITE: &[&str] = &["rusqlite", "libsqlite3-sys", "sqlx-sqlite"];
/// The cloud's database.
const POSTGRES: &[&str] = &["postgres*", "tokio-postgres", "sqlx-postgres", "diesel"];
/// The systems' own desktops.
const SYSTEMS: &[&str] = &["deskhand-platform-linux", "deskhand-platform-macos", "deskhand-platform-windows"];
/// The facets and the systems' own desktops.
const PLATFORMS: &[&str] = &["deskhand-platform*"];

/// Who must never contain what.
pub(crate) struct Row {
    pub part: &'static str,
    pub never: &'static [&'static [&'static str]],
    pub why: &'static str,
}

const fn row(part: &'static str, never: &'static [&'static [&'static str]], why: &'static str) -> Row {
    Row { part, never, why }
}

/// A name that ends in `*` stands for every name that begins so. A part that does not exist yet has
/// no findings; the row waits for it.
pub(crate) const TABLE: &[Row] = &[
    row(
        "protocol",
        &[&["deskhand-*"], ASYNC, OS, NET, SQLITE, POSTGRES],
        "it is words only: no I/O, no async, no logic",
    ),
    row(
        "policy",
        &[
            ASYNC,
            OS,
            NET,
            SQLITE,
            POSTGRES,
            PLATFORMS,
            &["jiff", "deskhand-host", "deskhand-tools", "deskhand-bridge"],
        ],
        "it is pure: no I/O, no clocks",
    ),
    row(
        "audit",
        &[
            ASYNC,
            NET,
            SQLITE,
            PLATFORMS,
            &["deskhand-host", "deskhand-tools", "deskhand-bridge", "deskhand-policy", "deskhand-vision"],
        ],
        "it records and proves, nothing else",
    ),
    row(
        "config",
        &[ASYNC, NET, PLATFORMS, &["deskhand-host", "deskhand-tools", "deskhand-bridge"]],
        "it reads settings, without a network",
    ),
    row(
        "platform",
        &[OS, ASYNC, NET, SYSTEMS, &["deskhand-host", "deskhand-tools", "deskhand-policy"]],
        "it is traits: no operating system",
    ),
    row(
        "platform-linux",
        &[NET, &["tokio", "deskhand-policy", "deskhand-host", "deskhand-tools", "deskhand-bridge"]],
        "it carries out; it decides nothing",
    ),
    row("vision", &[PLATFORMS, OS, ASYNC, NET], "it sees pixels, not desktops"),
    row(
        "tools",
        &[
            SYSTEMS,
            NET,
            ASYNC,
            &["deskhand-policy", "deskhand-store", "deskhand-host", "deskhand-bridge", "deskhand-audit"],
        ],
        "whether a call may run is the host's business",
    ),
    row(
        "host",
        &[
            NET,
            &["tokio", "deskhand-models", "deskhand-brain", "deskhand-agent", "deskhand-mcp", "deskhand-cli"],
        ],
        "hands without network",
    ),
    row(
        "bridge",
        &[NET, ASYNC, PLATFORMS, &["deskhand-host", "deskhand-tools", "deskhand-policy", "deskhand-vision"]],
        "it carries calls and knows none",
    ),
    row(
        "desk",
        &[
            NET,
            &[
                "tokio",
                "deskhand-host",
                "deskhand-tools",
                "deskhand-bridge",
                "deskhand-policy",
                "deskhand-platform-linux",
            ],
        ],
        "it gives a desktop; it does not act on it",
    ),
    row("models", &[PLATFORMS, &["deskhand-tools", "deskhand-host"]], "it talks to models only"),
    row("brain", &[PLATFORMS, &["deskhand-host", "deskhand-tools"]], "head without hands"),
    row("store", &[POSTGRES], "it is the local database"),
    row("sensing", &[OS, ASYNC, NET, SQLITE, PLATFORMS], "it is pure: no I/O"),
    row("observation", &[PLATFORMS, &["deskhand-policy"]], "it learns; it neither acts nor decides"),
    row("hook", &[&["*"]], "it starts in under 5 ms: std only"),
    row("sync", &[SQLITE, POSTGRES], "it is merge rules, whatever the database"),
    row("mcp", &[PLATFORMS, &["deskhand-tools", "deskhand-host"]], "it lists tools over the bridge"),
    row("agent", &[PLATFORMS, &["deskhand-host", "deskhand-tools"]], "head without hands"),
    row(
        "cli",
        &[
            NET,
            PLATFORMS,
            &[
                "tokio",
                "deskhand-host",
                "deskhand-tools",
                "deskhand-brain",
                "deskhand-store",
                "deskhand-policy",
            ],
        ],
        "it acts through the bridge like everybody else",
    ),
    row("cloud", &[PLATFORMS, &["deskhand-host", "deskhand-store"]], "it has no desk"),
];
