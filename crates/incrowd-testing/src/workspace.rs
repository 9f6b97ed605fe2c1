//! The crates of this repository, and the order in which they are published.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns the root directory of the repository.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the cargo metadata of this repository.
///
/// # Errors
///
/// If cargo fails.
pub fn metadata() -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(top())
        .output()
        .map_err(|e| format!("cargo cannot be run: {e}"))?;
    if !asked.status.success() {
        return Err(String::from_utf8_lossy(&asked.stderr).into_owned());
    }
    serde_json::from_slice(&asked.stdout).map_err(|e| e.to_string())
}

/// Returns the published crates, each after its dependencies.
///
/// # Errors
///
/// If a crate depends on one that is not published, or on itself.
pub fn publish_order(metadata: &Value) -> Result<Vec<String>, String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]);
    let is_published =
        |package: &&Value| package["publish"].as_array().is_none_or(|to| !to.is_empty());
    let own: Vec<String> = packages.iter().map(&name).collect();
    let mut left: Vec<(String, Vec<String>)> = Vec::new();
    for package in packages.iter().filter(is_published) {
        // A path without a version, for tests only, is omitted from the published manifest.
        let is_kept = |needed: &&Value| needed["kind"] != "dev" || needed["req"] != "*";
        let needs = list(&package["dependencies"]);
        let needs = needs.iter().filter(is_kept).map(&name).filter(|needed| own.contains(needed));
        left.push((name(package), needs.collect()));
    }
    let published: Vec<String> = left.iter().map(|(name, _)| name.clone()).collect();
    for (name, needs) in &left {
        if let Some(other) = needs.iter().find(|needed| !published.contains(needed)) {
            return Err(format!("{name} is published and needs {other}, which is not"));
        }
    }
    left.sort();
    let mut order: Vec<String> = Vec::new();
    while !left.is_empty() {
        let ready =
            left.iter().position(|(_, needs)| needs.iter().all(|needed| order.contains(needed)));
        let Some(ready) = ready else {
            let names: Vec<&str> = left.iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!("these need each other: {}", names.join(", ")));
        };
        order.push(left.remove(ready).0);
    }
    Ok(order)
}
