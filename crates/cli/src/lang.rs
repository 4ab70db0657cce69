//! Words for people, in English and Chinese. What programs read is never translated.

use std::fmt::Display;

/// The language people are spoken to in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lang {
    /// English.
    En,
    /// 中文
    Zh,
}

impl Lang {
    /// The first that is set of `LC_ALL`, `LC_MESSAGES`, `LANG` decides, as for every program.
    pub(crate) fn from_env(var: impl Fn(&str) -> Option<String>) -> Self {
        let locale =
            ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(var).find(|value| !value.is_empty());
        match locale {
            Some(locale) if locale.to_ascii_lowercase().starts_with("zh") => Self::Zh,
            _ => Self::En,
        }
    }
}

macro_rules! words {
    ($($name:ident($($arg:ident),*) = $en:literal, $zh:literal;)*) => {
        impl Lang {
            $(pub(crate) fn $name(self $(, $arg: impl Display)*) -> String {
                match self {
                    Lang::En => format!($en),
                    Lang::Zh => format!($zh),
                }
            })*
        }

        /// Every sentence in both languages, for the test.
        #[cfg(test)]
        const ALL: &[(&str, &str, &str)] = &[$((stringify!($name), $en, $zh)),*];
    };
}

words! {
    label_error() = "error", "错误";
    label_hint() = "hint", "提示";
    label_fix() = "fix", "解决办法";
    label_effect() = "effect", "效果";
    label_evidence() = "evidence", "证据";
    label_display() = "display", "显示器";
    label_home() = "home", "主目录";
    label_clients() = "clients", "客户端";
    label_executions() = "executions", "执行中";
    label_version() = "version", "版本";

    up_running(pid, display, home) = "Deskhand runs: host {pid} on display {display}, home {home}", "Deskhand 正在运行：宿主 {pid}，显示器 {display}，主目录 {home}";
    up_already(pid, display) = "Deskhand already runs: host {pid} on display {display}", "Deskhand 已在运行：宿主 {pid}，显示器 {display}";
    up_elsewhere() = "nothing was changed; to run it elsewhere, `deskhand down` first", "未作改动；要换地方运行，请先执行 `deskhand down`";
    up_desk(desk, size) = "on the virtual desk {desk} ({size}), which ends with it", "运行在虚拟桌面 {desk}（{size}）上，虚拟桌面随之结束";
    up_no_display() = "there is no display here, so it gets a virtual desk", "此处没有显示器，因此启用虚拟桌面";
    up_limited() = "Not everything works: `deskhand doctor` says how to mend it.", "部分功能不可用：`deskhand doctor` 会说明如何修复。";
    up_foreground() = "Ctrl-C stops it", "按 Ctrl-C 停止";
    up_log(path) = "log: {path}", "日志：{path}";
    up_stopped() = "Deskhand stopped", "Deskhand 已停止";
    down_done(pid) = "Deskhand stopped (host {pid})", "Deskhand 已停止（宿主 {pid}）";
    down_not_running() = "Deskhand is not running", "Deskhand 没有运行";

    status_running(pid, uptime) = "Deskhand runs: host {pid}, for {uptime}", "Deskhand 正在运行：宿主 {pid}，已运行 {uptime}";
    status_stopped() = "EMERGENCY STOP holds the desktop: no call acts", "急停生效中：任何调用都不会操作桌面";
    status_none() = "none", "无";

    doctor_pass() = "Everything works.", "一切正常。";
    doctor_warn(count) = "Works, with limits: {count} to look at.", "可以使用，但有 {count} 项需要注意。";
    doctor_fail(count) = "{count} broken: the fix stands under each.", "有 {count} 项不可用：解决办法见各项下方。";

    confirm_needed(phrase) = "This acts on the desktop. To confirm it: {phrase}", "此操作会改变桌面。确认短语：{phrase}";
    confirm_stdin() = "(with the same JSON on standard input: text that is typed does not belong into a shell's history)", "（从标准输入提供同样的 JSON：要输入的文字不应留在 shell 历史中）";
    choices_more(count) = "… {count} more: --json shows all", "… 还有 {count} 项：用 --json 查看全部";
    confirm_command() = "type it again like this:", "请这样再次输入：";
    image_hidden(kilobytes) = "… {kilobytes} kB, use -o FILE", "… {kilobytes} kB，用 -o FILE 保存";
    image_written(path, kilobytes) = "picture: {path} ({kilobytes} kB)", "图片：{path}（{kilobytes} kB）";
    batch_summary(done, failed) = "{done} done, {failed} failed", "完成 {done} 个，失败 {failed} 个";

    abort_done(execution) = "aborted {execution}", "已中止 {execution}";
    stop_done() = "Everything is stopped; `deskhand resume` lets calls act again.", "已全部停止；用 `deskhand resume` 恢复。";
    resume_done() = "Calls may act again.", "已恢复，可以继续操作。";

    desk_started(name, display) = "desk {name} runs on display {display}; end it with `deskhand desk stop {name}`", "虚拟桌面 {name} 运行在显示器 {display} 上；用 `deskhand desk stop {name}` 结束";
    desk_stopped(name) = "desk {name} stopped", "虚拟桌面 {name} 已停止";
    desk_none() = "no desk runs", "没有运行中的虚拟桌面";
    wrote(path) = "wrote {path}", "已写入 {path}";

    evidence_none(path) = "no evidence in {path} yet", "{path} 中还没有证据";
    evidence_more(limit) = "more than {limit}: --limit shows more, --date one day", "超过 {limit} 条：用 --limit 查看更多，用 --date 查看某一天";
    callers_none() = "no other program may use the bridge; Deskhand's own always may", "没有其他程序可以使用桥接；Deskhand 自己的程序总是可以";
    callers_allowed(path) = "{path} may use the bridge, as it is now", "{path}（当前内容）可以使用桥接";
    callers_removed(path) = "{path} may no longer use the bridge", "{path} 不能再使用桥接";
    tools_offline() = "(the host is not running: this is the built-in list)", "（宿主没有运行：以下为内置列表）";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_decides() {
        let cases: &[(&[(&str, &str)], Lang)] = &[
            (&[], Lang::En),
            (&[("LANG", "zh_CN.UTF-8")], Lang::Zh),
            (&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")], Lang::En),
            (&[("LANG", "en_US.UTF-8"), ("LC_MESSAGES", "zh_TW")], Lang::Zh),
            (&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "")], Lang::Zh),
            (&[("LANG", "de_DE.UTF-8")], Lang::En),
        ];
        for (vars, expected) in cases {
            let get =
                |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(Lang::from_env(get), *expected, "{vars:?}");
        }
    }

    #[test]
    fn both_languages_say_the_same_facts() {
        let facts = |text: &str| {
            let mut found: Vec<String> = text
                .split('{')
                .skip(1)
                .filter_map(|part| part.split_once('}'))
                .map(|(name, _)| name.to_owned())
                .collect();
            found.sort();
            found.dedup();
            found
        };
        for (name, en, zh) in ALL {
            assert_eq!(facts(en), facts(zh), "{name}");
            assert!(en.is_ascii() || en.contains('…'), "{name}");
            assert!(!zh.is_ascii(), "{name}");
        }
    }
}
