//! No files use each other in a circle.
//!
//! A file uses another one if its code has the path of an item which the other file defines. Re-exports are followed to
//! the file with the definition, and are not uses themselves.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::{SourceFile, source_files};

/// The path of a module or an item from the root of the crate.
type ItemPath = Vec<String>;

/// A module in its own file.
struct Module {
    code: String,
    imports: Vec<Import>,
    /// The names of its items.
    items: BTreeSet<String>,
}

struct Import {
    is_public: bool,
    /// As written, with `crate`, `self` and `super` resolved.
    path: ItemPath,
    name: String,
}

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Module(ItemPath),
    /// An item, by the module that defines it.
    ItemOf(ItemPath),
}

struct Modules(BTreeMap<ItemPath, Module>);

impl Modules {
    fn read(files: &[SourceFile]) -> Self {
        let import = Regex::new(r"(?m)^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);").unwrap();
        let item = Regex::new(
            r"(?m)^(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern\s+\S+)\s+)*(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(\w+)",
        )
        .unwrap();
        let mut modules = BTreeMap::new();
        for file in files {
            let path: ItemPath = file.module().iter().map(|name| (*name).to_owned()).collect();
            let imports = import.captures_iter(&file.code).flat_map(|found| {
                let is_public = found.get(1).is_some();
                expand(&found[2]).into_iter().map(move |(path, name)| (is_public, path, name))
            });
            let module = Module {
                imports: imports.map(|(is_public, path, name)| Import { is_public, path, name }).collect(),
                items: item.captures_iter(&file.code).map(|found| found[1].to_owned()).collect(),
                code: import.replace_all(&file.code, "").into_owned(),
            };
            modules.insert(path, module);
        }
        let mut modules = Self(modules);
        let paths: Vec<ItemPath> = modules.0.keys().cloned().collect();
        for path in paths {
            let imports = std::mem::take(&mut modules.0.get_mut(&path).unwrap().imports);
            let resolved = imports
                .into_iter()
                .filter_map(|import| Some(Import { path: modules.absolute(&path, &import.path)?, ..import }));
            let resolved = resolved.collect();
            modules.0.get_mut(&path).unwrap().imports = resolved;
        }
        modules
    }

    /// A path from the root; `None` if it leads to another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<ItemPath> {
        let ups = path.iter().take_while(|name| *name == "super").count();
        let joined = |base: &[String], rest: &[String]| [base, rest].concat();
        match path.first()?.as_str() {
            "crate" | "pgndex" => Some(path[1..].to_vec()),
            "self" => Some(joined(module, &path[1..])),
            "super" => Some(joined(&module[..module.len().checked_sub(ups)?], &path[ups..])),
            _ => {
                let child = joined(module, &path[..1]);
                self.0.contains_key(&child).then(|| joined(module, path))
            }
        }
    }

    /// The module at a path, or the module that defines the item at this path.
    fn find(&self, path: &[String]) -> Option<Found> {
        let length = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let Some(name) = rest.first() else { return Some(Found::Module(module.to_vec())) };
        let here = &self.0[module];
        if here.items.contains(name) {
            return Some(Found::ItemOf(module.to_vec()));
        }
        let named = here.imports.iter().find(|import| import.name == *name);
        if let Some(import) = named {
            return self.find(&[&import.path[..], &rest[1..]].concat());
        }
        here.imports.iter().filter(|import| import.name == "*").find_map(|import| {
            let target = &import.path[..import.path.len() - 1];
            let found = (target != module).then(|| self.find(&[target, rest].concat()))??;
            matches!(found, Found::ItemOf(_)).then_some(found)
        })
    }

    /// The modules whose items a module uses, each with a path that the code has.
    fn used_by(&self, path: &ItemPath) -> BTreeMap<ItemPath, String> {
        let module = &self.0[path];
        let mut used = BTreeMap::new();
        let mut add = |target: &[String]| {
            if let Some(Found::ItemOf(of)) = self.find(target)
                && of != *path
            {
                used.insert(of, target.join("::"));
            }
        };
        for import in module.imports.iter().filter(|import| import.name != "*") {
            let mention = Regex::new(&format!(r"\b{}\b((?:::\w+)*)", import.name)).unwrap();
            for mentioned in mention.captures_iter(&module.code) {
                add(&[&import.path[..], &names(&mentioned[1])].concat());
            }
            if !import.is_public {
                add(&import.path);
            }
        }
        let in_code = Regex::new(r"\b(?:crate|self|super)(?:::\w+)+").unwrap();
        for written in in_code.find_iter(&module.code) {
            if let Some(target) = self.absolute(path, &names(written.as_str())) {
                add(&target);
            }
        }
        for child in self.0.keys().filter(|child| child.len() == path.len() + 1 && child.starts_with(path)) {
            let name = child.last().unwrap();
            let mention = Regex::new(&format!(r"(?:^|[^\w:]){name}((?:::\w+)+)")).unwrap();
            for mentioned in mention.captures_iter(&module.code) {
                add(&[&child[..], &names(&mentioned[1])].concat());
            }
        }
        used
    }
}

/// The names of a path.
fn names(path: &str) -> ItemPath {
    path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The paths of a `use`, each with the name that it gets: `a::{b, c as d}` is `a::b` as `b` and `a::c` as `d`.
fn expand(tree: &str) -> Vec<(ItemPath, String)> {
    let Some((before, inside)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
        let mut path = names(&path.split_whitespace().collect::<String>());
        if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        let name =
            alias.map_or_else(|| path.last().cloned().unwrap_or_default(), |alias| alias.trim().to_owned());
        return vec![(path, name)];
    };
    let inside = inside.trim_end().strip_suffix('}').expect("a closing brace");
    let mut depth = 0;
    let parts = inside.split(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    parts
        .filter(|part| !part.trim().is_empty())
        .flat_map(|part| expand(&format!("{}{}", before.trim(), part.trim())))
        .collect()
}

/// For each module, the modules that it uses, each with a path in its code.
type Uses = BTreeMap<ItemPath, BTreeMap<ItemPath, String>>;

fn uses(modules: &Modules) -> Uses {
    modules.0.keys().map(|path| (path.clone(), modules.used_by(path))).collect()
}

/// A way from a module back to itself.
fn circle<'u>(uses: &'u Uses, start: &'u ItemPath) -> Option<Vec<&'u str>> {
    let mut reached = BTreeMap::new();
    let mut pending = vec![start];
    while let Some(module) = pending.pop() {
        for (next, written) in &uses[module] {
            if next == start {
                let mut way = vec![written.as_str()];
                let mut at = module;
                while at != start {
                    let (before, written): &(&ItemPath, &str) = &reached[at];
                    way.push(written);
                    at = before;
                }
                way.reverse();
                return Some(way);
            }
            if !reached.contains_key(next) {
                reached.insert(next, (module, written.as_str()));
                pending.push(next);
            }
        }
    }
    None
}

#[test]
fn no_files_use_each_other() {
    let uses = uses(&Modules::read(&source_files()));
    let known = uses.values().map(BTreeMap::len).sum::<usize>();
    assert!(known > 2 * uses.len(), "{known} uses of {} files were found", uses.len());
    let circles: Vec<_> =
        uses.keys().filter_map(|path| Some((path.join("::"), circle(&uses, path)?))).collect();
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn circles_are_found_through_re_exports_and_aliases() {
    let circles = |c: &str| {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "pub use b::{B, D as E};\nmod b;\nmod c;\npub fn of() {}"),
            ("a/b.rs", "use super::c::{self, C};\npub struct B;\npub struct D(C);"),
            ("a/c.rs", c),
        ];
        let files = files.map(|(path, code)| SourceFile { path: path.into(), code: code.to_owned() });
        let uses = uses(&Modules::read(&files));
        uses.keys()
            .filter(|path| circle(&uses, path).is_some())
            .map(|path| path.join("::"))
            .collect::<Vec<_>>()
    };
    assert_eq!(circles("pub struct C;"), [""; 0]);
    assert_eq!(circles("use super::of;\npub struct C;\nfn f() { of() }"), [""; 0]);
    for c in [
        "use crate::a::E;\npub struct C(E);",
        "pub struct C(super::B);",
        "use crate::a;\npub struct C(a::B);",
    ] {
        assert_eq!(circles(c), ["a::b", "a::c"], "{c}");
    }
}
