# shellcheck shell=bash
# Debian packages: installed only when missing, so that a warm run needs neither root nor the network.

# apt_missing PACKAGE…: prints those that are not installed. Without apt, the user has to install equivalents.
# PACKAGE:arm64 is for another type of machine.
apt_missing() {
  local installed p here
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || return 0
  here=$(dpkg --print-architecture)
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package}:${Architecture} ' "$@" 2>/dev/null || true)"
  for p in "$@"; do
    [[ $p == *:* ]] || p+=:$here
    [[ $installed == *" installed:$p "* || $installed == *" installed:${p%:*}:all "* ]] || printf '%s\n' "${p%":$here"}"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# apt_get ARGUMENT…: waits for another apt to finish rather than fail.
apt_get() {
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 "$@"
}

# Refreshes apt's lists, once a run: on a new machine they are old or empty. (apt has no time-out for this lock, so it
# is tried again.)
apt_update() {
  [ -z "${apt_updated-}" ] || return 0
  say "apt: refreshing the package lists"
  apt_get update 2>/dev/null || { sleep 5; apt_get update; }
  apt_updated=1
}

# apt_check PACKAGE…: fails at once, with the whole list, if something is missing that this user cannot install.
apt_check() {
  local missing
  mapfile -t missing < <(apt_missing "$@")
  if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "missing packages; run this as root, or where there is sudo, or: apt-get install ${missing[*]}"
  fi
}

# apt_need PACKAGE…: installs what is missing.
apt_need() {
  local missing
  mapfile -t missing < <(apt_missing "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  [[ "${missing[*]}" != *:arm64* ]] || quietly as_root dpkg --add-architecture arm64
  apt_update
  say "apt: installing ${missing[*]}"
  apt_install "${missing[@]}" && return 0
  # Tries again: a mirror was slow, or something emptied /tmp, where apt unpacks. Half-unpacked packages are finished
  # first.
  say "apt: failed, trying again"
  quietly as_root dpkg --configure -a || true
  apt_get install -y --fix-broken || true
  apt_install "${missing[@]}" || die "apt-get could not install: ${missing[*]}"
}

apt_install() { apt_get install -y --no-install-recommends "$@"; }

# apt_uris: the addresses of this machine's own apt, from both formats of its sources.
apt_uris() {
  cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -nE 's/^URIs:[[:space:]]*([^[:space:]]+).*/\1/p; s/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+).*/\2/p'
}

# debian_mirror: the address of Debian's mirror. There can be third parties' sources, too, and a mirror can have any
# path; the usual path is taken first.
debian_mirror() {
  local uris
  uris=$(apt_uris | grep -v security || true)
  { printf '%s\n' "${WASINN_DEBIAN_MIRROR-}"; grep -E '/debian/?$' <<<"$uris" || true; echo "$uris"; } | grep -m 1 . || true
}

# debian_security MIRROR: the address of Debian's security updates, which are mostly next to Debian itself.
debian_security() { { apt_uris | grep security || true; echo "${1%/}-security"; } | head -n 1; }

# private_apt SUITE FOLDER: sets `options` for an apt that only knows this suite, and nothing of what this machine has
# installed. It has its own configuration in FOLDER, the same mirror, and checks signatures as usual.
private_apt() {
  local suite=$1 apt=$2 mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || die "no Debian mirror in this machine's apt sources; name one in WASINN_DEBIAN_MIRROR"
  [ -e "$keys" ] || die "$keys is missing (package debian-archive-keyring)"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial"
  : >"$apt/status"
  printf 'deb [signed-by=%s] %s %s main\n' "$keys" "$mirror" "$suite" >"$apt/sources.list"
  # Sandbox::User: otherwise apt would become a user who may not enter this folder.
  options=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt" -o Acquire::Languages=none
    -o "APT::Sandbox::User=$(id -un)" -o Debug::NoLocking=true)
  quietly apt-get "${options[@]}" update
}

# deb_from_suite SUITE PACKAGE VERSION DIR: unpacks one package of another Debian release into DIR, without installing it or touching this
# machine's apt; debs_from_suite SUITE VERSION DIR PACKAGE…: packages of one version and all that they depend on.
deb_from_suite() { unpack_debs "$1" "$3" "$4" download "$2"; }
debs_from_suite() { unpack_debs "${@:1:3}" "install --yes --download-only --no-install-recommends" "${@:4}"; }

# unpack_debs SUITE VERSION DIR HOW PACKAGE…
unpack_debs() {
  local suite=$1 version=$2 dir=$3 how=$4 options apt=$3.apt p wanted=() deb
  mkdir -p "$dir"
  private_apt "$suite" "$apt"
  for p in "${@:5}"; do
    wanted+=("$p=$(deb_version "$p" "$version")")
    [ "${wanted[-1]}" != "$p=" ] || die "$suite has no $p $version"
  done
  # shellcheck disable=SC2086 # words
  (cd "$apt/archives" && quietly apt-get "${options[@]}" $how "${wanted[@]}")
  for deb in "$apt"/archives/*.deb; do dpkg-deb -x "$deb" "$dir"; done
  rm -rf "$apt"
}

# deb_version PACKAGE VERSION: the full version of the package that an apt with `options` has.
deb_version() {
  apt-cache "${options[@]}" madison "$1" | sed -nE "s/^[^|]*\| *(${2}[-+~][^ ]*) .*/\1/p" | head -n 1
}
