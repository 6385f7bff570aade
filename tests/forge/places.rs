//! Which repository a remote's URL means.

use sop::forge::Place;

#[test]
fn every_usual_form_of_a_url_leads_to_its_repository() {
    for url in [
        "https://github.com/octo/demo.git",
        "https://github.com/octo/demo",
        "https://user:token@GitHub.com:443/octo/demo.git/",
        "ssh://git@github.com:22/octo/demo.git",
        "git@github.com:octo/demo.git",
        "github.com:octo/demo",
        "git://github.com/octo/demo.git",
    ] {
        let place = Place::of(url).unwrap_or_else(|| panic!("{url} leads nowhere"));
        assert_eq!(place.to_string(), "github.com/octo/demo", "{url}");
    }
}

#[test]
fn what_is_at_no_forge_or_could_be_taken_for_something_else_leads_nowhere() {
    for url in [
        "/srv/git/demo.git",
        "../demo.git",
        "./a:b/c",
        "file:///srv/git/demo.git",
        "https://github.com/demo",
        "https://github.com/a/b/c",
        "git@github.com:demo.git",
        "https://github.com/octo/de mo",
        "https://github.com/-octo/demo",
        "https://--help/octo/demo",
        "ext::sh -c octo/demo",
        "",
    ] {
        assert_eq!(Place::of(url), None, "{url}");
    }
}
