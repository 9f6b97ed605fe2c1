//! The pages in a browser: charts are drawn, nothing is fetched, light and dark mode differ.
//! Screenshots are kept in `target/tmp`.
//!
//! The browser is the program that `CHROMIUM` names, otherwise a Chromium or Chrome on the path. If
//! there is none and `INCROWD_TEST_INSTALL=1` is set, root on Debian installs the package. Without
//! a browser the test is skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use incrowd_testing::or_skip;

use crate::test_dir::TestDir;

/// Counts the charts that are visible and contain a coloured shape other than a guide line, the
/// lists of bars that show one, texts in charts that are too small or cross the edge, and how far
/// the page itself does.
const PROBE: &str = r#"<script>
var all = 0, drawn = 0, lists = 0, bars = 0, small = 0, out = 0;
function shown(shape) {
  if ((shape.getAttribute("class") || "").match(/line-rule|fill-soft|target/)) return false;
  var own = shape.getBoundingClientRect(), style = getComputedStyle(shape);
  return own.width + own.height > 0 && (style.fill != "none" || style.stroke != "none");
}
document.querySelectorAll("svg[role=img]").forEach(function (svg) {
  all++;
  var box = svg.getBoundingClientRect();
  var shapes = [...svg.querySelectorAll("rect, path, circle")].filter(shown).length;
  if (box.width > 200 && box.height > 20 && shapes > 0) drawn++;
  svg.querySelectorAll("text").forEach(function (text) {
    var own = text.getBoundingClientRect();
    if (own.height < 11) small++;
    if (own.left < -1 || own.right > innerWidth + 1) out++;
  });
});
document.querySelectorAll("ul.rows").forEach(function (list) {
  lists++;
  if ([...list.querySelectorAll("rect")].some(shown)) bars++;
});
var over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
document.body.setAttribute("data-charts", all + " of which drawn " + drawn);
document.body.setAttribute("data-lists", lists + " of which drawn " + bars);
document.body.setAttribute("data-texts", small + " small, " + out + " out, " + over + " over");
</script></body>"#;

struct Browser {
    program: PathBuf,
    test: TestDir,
}

fn works(program: &Path) -> bool {
    let asked =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn installed_browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
        .map(PathBuf::from);
    named.into_iter().chain(usual).find(|program| works(program))
}

/// Installs Debian's package if that is possible and allowed.
fn install_from_debian() -> Option<PathBuf> {
    if !incrowd_testing::may_install() {
        return None;
    }
    let root = Command::new("id").arg("-u").output().ok()?;
    if !Path::new("/etc/debian_version").exists() || root.stdout.trim_ascii() != b"0" {
        return None;
    }
    let apt = |what: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(what).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let install = ["install", "-y", "-q", "--no-install-recommends", "chromium"];
    let done = apt(&install) || (apt(&["update", "-q"]) && apt(&install));
    done.then(installed_browser).flatten()
}

/// Returns a browser, or why there is none.
pub(crate) fn chromium() -> Result<PathBuf, &'static str> {
    installed_browser().or_else(install_from_debian).ok_or(
        "no Chromium; set CHROMIUM to one, or INCROWD_TEST_INSTALL=1 to install Debian's package (as root)",
    )
}

impl Browser {
    fn new() -> Result<Browser, &'static str> {
        Ok(Browser { program: chromium()?, test: TestDir::new() })
    }

    /// Opens a page without network access.
    fn open(&self, page: &Path, more: &[String]) -> Output {
        let profile = tempfile::tempdir_in(self.test.path()).unwrap();
        let mut command = Command::new(&self.program);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ]);
        command.args([
            "--disable-extensions",
            "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.args(more).arg(format!("file://{}", page.display()));
        command.output().unwrap()
    }

    fn dom(&self, name: &str, page: &str, width: u32) -> String {
        self.test.write(name, page);
        // A window is never narrower than 500 pixels, but a frame can be.
        let frame = format!(
            "<!DOCTYPE html><body><iframe src=\"{name}\" width=\"{width}\" height=\"900\"></iframe><script>onload = () => \
             document.body.append(document.querySelector('iframe').contentDocument.body.cloneNode())</script></body>"
        );
        self.test.write("frame.html", frame);
        let more = ["--virtual-time-budget=3000", "--dump-dom", "--allow-file-access-from-files"]
            .map(str::to_owned);
        let output = self.open(&self.test.path().join("frame.html"), &more);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the requested hosts, without those that the browser requests itself.
    fn hosts(&self, name: &str, page: &str) -> BTreeSet<String> {
        self.test.write(name, page);
        let log = self.test.path().join("net.json");
        let more = [format!("--log-net-log={}", log.display()), "--dump-dom".into()];
        self.open(&self.test.path().join(name), &more);
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.contains("\"constants\""), "the browser wrote no log");
        let asked = text.split("\"url\":\"http").skip(1).filter_map(|rest| {
            let rest = rest.trim_start_matches('s').strip_prefix("://")?;
            Some(rest.split(['/', '"', '?', ':']).next()?.to_owned())
        });
        let own = |host: &String| {
            ["google.com", "gstatic.com", "googleapis.com", "gvt1.com"]
                .iter()
                .any(|end| host.ends_with(end))
        };
        asked.filter(|host| !own(host)).collect()
    }

    fn picture(&self, page: &str, name: &str, dark: bool) -> Vec<u8> {
        self.test.write("picture.html", page);
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        drop(std::fs::remove_file(&kept));
        let scheme = u8::from(!dark);
        let more = [
            format!("--blink-settings=preferredColorScheme={scheme}"),
            "--window-size=1000,3000".to_owned(),
            format!("--screenshot={}", kept.display()),
        ];
        self.open(&self.test.path().join("picture.html"), &more);
        std::fs::read(&kept).unwrap_or_else(|e| panic!("no screenshot {}: {e}", kept.display()))
    }
}

/// A census-like table, its release, and all pages about them.
fn pages() -> Vec<(&'static str, String)> {
    let test = TestDir::new();
    test.succeeds("demo --data-only --rows 2000 --dir .");
    test.succeeds("anonymize job.toml -o r.csv --report r.html --owner-report o.html");
    test.succeeds("compare job.toml --algorithms mondrian,top-down --k 2,5,20 -o c");
    test.write(
        "one.csv",
        "age\n".to_owned() + &(0..90).map(|i| format!("{}\n", 20 + i % 40)).collect::<String>(),
    );
    test.succeeds("anonymize one.csv --quasi age -k 3 -o s.csv --report s.html");
    vec![
        ("report-public", test.text("r.html")),
        ("report-owner", test.text("o.html")),
        ("report-one-column", test.text("s.html")),
        ("report-comparison", test.text("c/comparison.html")),
    ]
}

#[test]
fn charts_are_drawn_and_nothing_is_fetched() {
    let browser = or_skip!(Browser::new());
    for (name, page) in pages() {
        // The page forbids scripts; the probe runs in a copy that allows them.
        let (before, after) = page.split_once("<meta http-equiv").unwrap();
        let open = format!("{before}{}", after.split_once('>').unwrap().1);
        let charts = page.matches("role=\"img\"").count();
        let lists = page.matches("<ul class=\"rows").count();
        assert!(charts > 0 && lists > 0, "{name} has no chart");
        for width in [360, 1280] {
            let dom = browser.dom("probe.html", &open.replace("</body>", PROBE), width);
            for installed_browser in [
                format!("data-charts=\"{charts} of which drawn {charts}\""),
                format!("data-lists=\"{lists} of which drawn {lists}\""),
                "data-texts=\"0 small, 0 out, 0 over\"".to_owned(),
            ] {
                let told = dom.split("data-charts").nth(1).and_then(|rest| rest.split('>').next());
                assert!(
                    dom.contains(&installed_browser),
                    "{name} at {width}: {installed_browser}, installed_browser {told:?}"
                );
            }
        }
        assert!(browser.hosts("page.html", &page).is_empty(), "{name} asks for something");
        let light = browser.picture(&page, &format!("{name}-light"), false);
        let dark = browser.picture(&page, &format!("{name}-dark"), true);
        assert!(
            light.starts_with(b"\x89PNG") && light.len() > 10_000 && dark.len() > 10_000,
            "{name}"
        );
        assert!(light != dark, "{name} looks the same in light and dark");
        if name == "report-public" {
            the_checks_can_fail(&browser, &page, &open, charts, &light);
        }
    }
}

/// Tests the checks themselves: without shapes no chart counts as drawn, a fetch is in the log, and
/// hidden charts change the picture.
fn the_checks_can_fail(browser: &Browser, page: &str, open: &str, charts: usize, light: &[u8]) {
    let empty =
        browser.dom("empty.html", &open.replace("<rect", "<g").replace("</body>", PROBE), 1000);
    assert!(
        !empty.contains(&format!("{charts} of which drawn {charts}\"")),
        "{charts} charts without shapes"
    );
    let picture = "<img src=\"http://fetched.invalid/x.png\"></body>";
    let leak = browser.hosts("leak.html", &open.replace("</body>", picture));
    assert!(leak.contains("fetched.invalid"), "the log would not have shown it");
    // The policy of the page prevents the fetch.
    assert!(
        browser.hosts("held.html", &page.replace("</body>", picture)).is_empty(),
        "the policy holds"
    );
    let blank = page.replace("<ul class=\"rows", "<ul style=\"display: none\" class=\"rows");
    assert!(browser.picture(&blank, "report-public-without-charts", false) != light, "charts show");
}
