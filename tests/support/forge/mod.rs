//! A forge of the tests' own, on loopback: git over HTTP by `git http-backend`, and the part of GitHub's
//! interface that `gh` needs to list, open, look at, change and merge pull requests. gh reaches it through a
//! socket (`http_unix_socket` in its own settings), git through a port of 127.0.0.1.

mod api;
mod backend;
mod http;
mod pulls;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;

use super::git_repo::sh;
use super::scratch::has_tool;

pub use pulls::{Ends, Pull};

/// The host that gh takes it for.
pub const HOST: &str = "127.0.0.1";
/// Where gh finds it.
const SOCKET: &str = "gh.sock";
/// The repository.
pub const REPO: &str = "octo/demo";

/// A forge that runs.
pub struct Forge {
    folder: TempDir,
    inner: Arc<Inner>,
    port: u16,
    listeners: Vec<JoinHandle<()>>,
    /// Brings the listeners back, when the forge has gone away.
    back: Option<JoinHandle<Vec<JoinHandle<()>>>>,
}

struct Inner {
    /// The bare repository.
    bare: PathBuf,
    state: Mutex<State>,
    over: AtomicBool,
}

/// What it holds beside its repository, and how it behaves.
#[derive(Default)]
pub struct State {
    pulls: Vec<Pull>,
    /// Checks of the branches that end so, in place of those of all others.
    checks: BTreeMap<String, Vec<(String, Ends)>>,
    /// What protects `main`, if anything does: the checks that it requires, and whether it wants a review.
    protection: Option<(Vec<String>, bool)>,
    /// Connections that are still to be cut.
    to_cut: usize,
    /// Connections that were.
    cut: usize,
    /// Requests that were answered, a line each.
    log: Vec<String>,
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }
}

impl Forge {
    /// A forge with an empty repository; nothing, and said so, where there is no gh.
    pub fn start() -> Option<Self> {
        if !has_tool("gh", "apt-get install gh") {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let bare = folder.path().join(format!("repos/{REPO}.git"));
        fs::create_dir_all(&bare).expect("a folder");
        sh(&bare, "git init -q --bare -b main . && git config http.receivepack true");
        let inner = Arc::new(Inner {
            bare,
            state: Mutex::new(State::default()),
            over: AtomicBool::new(false),
        });
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = tcp.local_addr().expect("it is bound").port();
        let listeners = listen(&inner, tcp, UnixListener::bind(folder.path().join(SOCKET)));
        let gh = folder.path().join("gh");
        fs::create_dir(&gh).expect("a folder");
        let socket = folder.path().join(SOCKET);
        fs::write(gh.join("config.yml"), format!("http_unix_socket: {}\n", socket.display()))
            .expect("gh's settings");
        let forge = Self { folder, inner, port, listeners, back: None };
        forge.log_in();
        Some(forge)
    }

    /// Nobody listens any more, neither for git nor for gh: connections are refused. So it is for as long as this.
    pub fn goes_away_for(&mut self, time: Duration) {
        self.stop();
        let (inner, port) = (Arc::clone(&self.inner), self.port);
        let socket = self.folder.path().join(SOCKET);
        fs::remove_file(&socket).expect("gh's socket");
        self.back = Some(std::thread::spawn(move || {
            std::thread::sleep(time);
            inner.over.store(false, Ordering::Relaxed);
            let tcp = TcpListener::bind((HOST, port)).expect("the port is still its own");
            listen(&inner, tcp, UnixListener::bind(socket))
        }));
    }

    /// Ends the listeners, each of which waits for somebody.
    fn stop(&mut self) {
        self.inner.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((HOST, self.port));
        let _ = UnixStream::connect(self.folder.path().join(SOCKET));
        for listener in self.listeners.drain(..) {
            let _ = listener.join();
        }
    }

    /// gh's settings: what `GH_CONFIG_DIR` is to be.
    pub fn gh_config(&self) -> String {
        self.folder.path().join("gh").display().to_string()
    }

    /// The repository's URL.
    pub fn url(&self) -> String {
        format!("http://{HOST}:{}/{REPO}.git", self.port)
    }

    /// The bare repository.
    pub fn bare(&self) -> &Path {
        &self.inner.bare
    }

    /// Runs a script in the bare repository, as somebody else who pushes there would have it.
    pub fn sh(&self, script: &str) -> String {
        sh(&self.inner.bare, script)
    }

    /// gh knows a token.
    pub fn log_in(&self) {
        let known =
            format!("{HOST}:\n    oauth_token: t\n    user: octo\n    git_protocol: https\n");
        fs::write(self.folder.path().join("gh/hosts.yml"), known).expect("gh's hosts");
    }

    /// gh knows none.
    pub fn log_out(&self) {
        fs::remove_file(self.folder.path().join("gh/hosts.yml")).expect("gh's hosts");
    }

    /// All requests so far.
    pub fn pulls(&self) -> Vec<Pull> {
        let mut state = self.inner.state();
        self.inner.refresh(&mut state);
        state.pulls.clone()
    }

    /// The requests that are so, one line each: `number head state`.
    pub fn told(&self) -> Vec<String> {
        let line = |pull: &Pull| format!("#{} {} {}", pull.number, pull.head, pull.state);
        self.pulls().iter().map(line).collect()
    }

    /// What checks come to on branches that end so.
    pub fn checks(&self, ending: &str, checks: &[(&str, Ends)]) {
        let checks = checks.iter().map(|(name, ends)| ((*name).to_owned(), *ends)).collect();
        self.inner.state().checks.insert(ending.to_owned(), checks);
    }

    /// Protects `main`.
    pub fn protect(&self, required: &[&str], review: bool) {
        let required = required.iter().map(|name| (*name).to_owned()).collect();
        self.inner.state().protection = Some((required, review));
    }

    /// Somebody merges a request in the browser.
    pub fn merge(&self, number: u64) {
        let mut state = self.inner.state();
        self.inner.merge(&mut state, number, "SQUASH", None).expect("it can be merged");
    }

    /// Somebody turns a request to another base.
    pub fn turn(&self, number: u64, base: &str) {
        let mut state = self.inner.state();
        let pull = state.pulls.iter_mut().find(|pull| pull.number == number).expect("a request");
        pull.base = base.to_owned();
    }

    /// Somebody closes a request.
    pub fn close(&self, number: u64) {
        let mut state = self.inner.state();
        let pull = state.pulls.iter_mut().find(|pull| pull.number == number).expect("a request");
        pull.state = "CLOSED".to_owned();
    }

    /// Is down for so many connections, of git's and gh's alike.
    pub fn is_down_for(&self, connections: usize) {
        self.inner.state().to_cut = connections;
    }

    /// Connections that it cut.
    pub fn cut(&self) -> usize {
        self.inner.state().cut
    }

    /// What it was asked, without what only reads, a line each.
    pub fn changes(&self) -> Vec<String> {
        let state = self.inner.state();
        state.log.iter().filter(|line| !line.starts_with("read ")).cloned().collect()
    }

    /// A commit on top of a branch, by somebody else; its id.
    pub fn push_by_another(&self, branch: &str, file: &str, text: &str) -> String {
        self.sh(&format!(
            "at=$(git rev-parse refs/heads/{branch})\n\
             blob=$(printf %s '{text}' | git hash-object -w --stdin)\n\
             export GIT_INDEX_FILE=index.another\n\
             git read-tree $at\n\
             git update-index --add --cacheinfo 100644,$blob,{file}\n\
             tree=$(git write-tree)\n\
             commit=$(git commit-tree $tree -p $at -m another)\n\
             git update-ref refs/heads/{branch} $commit $at\n\
             rm -f index.another\n\
             echo $commit"
        ))
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        if let Some(Ok(listeners)) = self.back.take().map(JoinHandle::join) {
            self.listeners = listeners;
        }
        self.stop();
    }
}

/// Takes whoever comes, of git's and of gh's.
fn listen(
    inner: &Arc<Inner>,
    tcp: TcpListener,
    unix: io::Result<UnixListener>,
) -> Vec<JoinHandle<()>> {
    let (unix, of_git, of_gh) = (unix.expect("a socket"), Arc::clone(inner), Arc::clone(inner));
    let git = std::thread::spawn(move || {
        for stream in tcp.incoming().map_while(Result::ok) {
            if of_git.over.load(Ordering::Relaxed) {
                break;
            }
            let inner = Arc::clone(&of_git);
            std::thread::spawn(move || inner.answer(stream));
        }
    });
    let gh = std::thread::spawn(move || {
        for stream in unix.incoming().map_while(Result::ok) {
            if of_gh.over.load(Ordering::Relaxed) {
                break;
            }
            let inner = Arc::clone(&of_gh);
            std::thread::spawn(move || inner.answer(stream));
        }
    });
    vec![git, gh]
}

/// A connection: of git's, or of gh's.
trait Connection: Read + Write {
    fn end(&self);
}

impl Connection for TcpStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Connection for UnixStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Inner {
    fn answer(&self, mut stream: impl Connection) {
        {
            let mut state = self.state();
            if state.to_cut > 0 {
                state.to_cut -= 1;
                state.cut += 1;
                stream.end();
                return;
            }
        }
        let Some(request) = http::Request::read(&mut stream) else { return };
        let response = match request.path.contains(".git/") {
            true => backend::answer(&self.bare, &request),
            false => self.api(&request),
        };
        response.write(&mut stream);
        stream.end();
    }
}
