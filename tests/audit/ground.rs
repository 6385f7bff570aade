//! Which commands a project is found to have.

use bstr::{BStr, BString};
use sop::audit::Scope;
use sop::audit::ground::find;
use sop::model::gap::GroundKind::{self, Lint, Setup, Test, Types};

/// The commands of a project of these files, looked at in `scope`.
fn found(files: &[(&str, &str)], scope: &[&str]) -> Vec<(GroundKind, String, String)> {
    let read = |path: &BStr| {
        let at = files.iter().find(|(name, _)| *name == path);
        at.map(|(_, text)| (*text).to_owned())
    };
    let scope = Scope::new(scope.iter().map(|path| BString::from(*path)).collect());
    find(&scope, &read).into_iter().map(|it| (it.kind, it.from, it.run)).collect()
}

/// The same at the top, without where each comes from.
fn runs(files: &[(&str, &str)]) -> Vec<(GroundKind, String)> {
    found(files, &[]).into_iter().map(|(kind, _, run)| (kind, run)).collect()
}

#[test]
fn cargo_has_all_three() {
    let package = [("Cargo.toml", "[package]\nname = \"x\"\n")];
    let three = |all: &str| {
        vec![
            (Lint, format!("cargo clippy{all} --all-targets -- -D warnings")),
            (Types, format!("cargo check{all} --all-targets")),
            (Test, format!("cargo test{all}")),
        ]
    };
    assert_eq!(runs(&package), three(""));
    assert_eq!(runs(&[("Cargo.toml", "[workspace]\nmembers = []\n")]), three(" --workspace"));
}

#[test]
fn npm_has_what_its_scripts_say() {
    let scripts = |text: &'static str| ("package.json", text);
    let both = scripts(r#"{"scripts": {"lint": "eslint .", "tsc": "tsc", "test": "vitest"}}"#);
    assert_eq!(
        runs(&[both, ("package-lock.json", "{}")]),
        [
            (Setup, "npm ci".to_owned()),
            (Lint, "npm run lint".to_owned()),
            (Types, "npm run tsc".to_owned()),
            (Test, "npm run test".to_owned()),
        ]
    );
    assert_eq!(
        runs(&[both, ("pnpm-lock.yaml", "")])[..2],
        [(Setup, "pnpm install --frozen-lockfile".to_owned()), (Lint, "pnpm run lint".to_owned())]
    );
    // Without a lock file nothing is fetched; what `npm init` wrote is no test; nonsense is nothing.
    let first = scripts(r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#);
    assert_eq!(runs(&[first, ("package-lock.json", "{}")]), []);
    assert_eq!(runs(&[scripts("{")]), []);
    assert_eq!(runs(&[scripts(r#"{"scripts": {"test": 3}}"#)]), []);
}

#[test]
fn python_has_what_is_configured() {
    let project =
        "[project]\nname = \"x\"\n[tool.ruff]\nline-length = 100\n[tool.pytest.ini_options]\n";
    assert_eq!(
        runs(&[("pyproject.toml", project), ("mypy.ini", "")]),
        [
            (Lint, "ruff check .".to_owned()),
            (Types, "mypy .".to_owned()),
            (Test, "pytest -q".to_owned())
        ]
    );
    assert_eq!(runs(&[("pyproject.toml", "[project]\n[tool.ruffian]\n")]), []);
}

#[test]
fn make_has_its_targets_where_nothing_else_has_them() {
    let make =
        ("Makefile", "test := x\ntest ::= y\nlint: a b\n\tlint\ncheck::\n\ttsc\n.PHONY: test\n");
    assert_eq!(
        runs(&[make]),
        [(Lint, "make lint".to_owned()), (Types, "make check".to_owned())],
        "a variable is no target"
    );
    let cargo = ("Cargo.toml", "[package]\n");
    assert_eq!(runs(&[cargo, ("Makefile", "test:\n\ttrue\n")]).len(), 3);
}

#[test]
fn where_the_top_has_none_the_nearest_folder_above_the_scope_does() {
    let files = [
        ("web app/package.json", r#"{"scripts": {"test": "x"}}"#),
        ("core/Cargo.toml", "[package]\n"),
        ("core/inner/Makefile", "test:\n"),
    ];
    assert_eq!(found(&files, &[]), []);
    assert_eq!(
        found(&files, &["web app/src/a", "web app/src/b", "docs"]),
        [(Test, "web app/package.json".to_owned(), "cd 'web app' && npm run test".to_owned())]
    );
    let inner = found(&files, &["core/inner/x.c"]);
    assert_eq!(
        inner,
        [(Test, "core/inner/Makefile".to_owned(), "cd core/inner && make test".to_owned())]
    );
    assert_eq!(found(&files, &["core"]).len(), 3);
}
