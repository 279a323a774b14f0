# shellcheck shell=bash disable=SC2154
# Recipes (deps/NAME.sh, or a function NAME of manifest.sh) make small prefix trees. These are kept in a per-user cache
# and hard-linked into .deps/, so that a second clone is quick. A recipe's file sets `version`, `pins` (all that it
# fetches by) and `tools` (clients that it needs), and defines `fill DIR WORK`: put include/, lib/, share/ … into DIR,
# with WORK as an empty folder to work in. For a function all this follows from its text.
#
# An interruption, at any point, leaves nothing half-made behind: a tree is made next to its place and renamed, and a
# stamp in .deps/ is removed first and written last.

# recipe NAME: loads it (call it in a subshell) and sets `id`, which changes with everything that the tree is made from.
recipe() {
  local file=$root/scripts/deps/$1.sh made_from
  if [ -e "$file" ]; then
    # shellcheck source=/dev/null
    . "$file"
    made_from=$(cat "$file"; echo .)
  else
    fetched "$1"
  fi
  id=$1-$version-$(printf '%s\n%s\n%s' "$pins" "$(uname -m)" "${made_from%.}" | sha256sum | cut -c 1-12)
}

# fetched NAME: loads a function of manifest.sh, with deps/NAME.txt and deps/NAME/. The first package that it fetches gives the version.
fetched() {
  local list=$root/scripts/deps/$1.txt
  name=$1
  made_from=$(sed -n "/^$name() {/,/^}/p" "$root/scripts/manifest.sh")
  mapfile -t tools < <(sed -nE 's/^ *(wheels?|maven|npm_pinned|npm_package|crate|beside_itself) .*/\1/p' <<<"$made_from")
  version=$(sed -nE '/^ *(wheel|maven|npm_package|crate|debs_from_suite) [^ ]+ ([^ ]+) .*/{s//\2/p;q}' <<<"$made_from")
  pins=$(pins_of "$list" && find "$root/scripts/deps" -path "${list%.txt}/*" -type f -print0 | sort -z | xargs -0r cat)
  [ ! -e "$list" ] || version=$(sed -nE '1s/^[^=]*==([^ ]*) .*/\1/p' <<<"$pins")
  version=${version:-$(sed -nE '/"dependencies"/{n;s/.*: "(.*)".*/\1/p}' "${list%.txt}/package.json")}
  fill() {
    tree=$1 work=$2
    cd "$work" || die "$work is gone"
    "$name"
  }
}

# pins_of LIST: the lines of deps/wheels.txt, which has each wheel once, for the names in LIST: NAME, or NAME==VERSION if there are several versions.
pins_of() {
  [ ! -e "$1" ] || awk 'FNR == NR { name = $1; sub(/==.*/, "", name); pin[name] = pin[$1] = $0; next } { for (i = 1; i <= NF; i++) print $i in pin ? pin[$i] : $i }' \
    "$root/scripts/deps/wheels.txt" "$1"
}

# put FOLDER FILE…: moves files of $work into a folder of $tree.
put() {
  mkdir -p "$tree/$1"
  mv "${@:2}" "$tree/$1/"
}

# state_of NAME: prints ready (linked into .deps/), cached, or the tools that making it needs.
state_of() (
  recipe "$1"
  if [ "$(head -n 1 "$prefix/.stamps/$1" 2>/dev/null)" = "$id" ]; then
    echo ready
  elif [ -d "$cache/$id" ]; then
    echo cached
  else
    echo "${tools[@]}"
  fi
)

# provide NAME: makes the tree if the cache has none, and links it into .deps/.
provide() (
  recipe "$1"
  if [ ! -d "$cache/$id" ]; then
    say "$1: fetching $version"
    make_tree "$1"
  fi
  link_tree "$1"
  say "$1: $version is in .deps/"
)

make_tree() {
  local tmp
  mkdir -p "$cache"
  find "$cache" -maxdepth 1 -name '.making-*' -mmin +120 -exec rm -rf --one-file-system {} + # of runs that were killed
  tmp=$(mktemp -d "$cache/.making-XXXXXX")
  # shellcheck disable=SC2064 # now, not when it runs
  trap "wait; rm -rf --one-file-system '$tmp'" EXIT
  mkdir "$tmp/tree" "$tmp/work"
  fill "$tmp/tree" "$tmp/work"
  find "$tmp/tree" -type f -exec chmod a-w {} + # shared by all clones through hard links
  # Another run can have been faster: its tree is as good.
  mv -T "$tmp/tree" "$cache/$id" 2>/dev/null || [ -d "$cache/$id" ]
}

# The stamp names the tree that is installed, and NAME.files lists its files, so that those of an older version can be
# removed.
link_tree() {
  local stamp=$prefix/.stamps/$1
  mkdir -p "$prefix/.stamps"
  # One tree at a time: trees share folders, and if two cp make the same folder, one of them fails.
  exec 9>"$prefix/.stamps/.lock"
  flock 9
  # Removes the files of an older version that no other recipe has now.
  [ ! -f "$stamp.files" ] || (cd "$prefix" && sort .stamps/*.files | uniq -d | { grep -vxFf - "$stamp.files" || true; } | xargs -r -d '\n' rm -f)
  rm -f "$stamp" "$stamp.files"
  (cd "$cache/$id" && find . ! -type d) >"$stamp.files"
  # --remove-destination: cp makes no hard link over a file that exists.
  cp -al --remove-destination "$cache/$id/." "$prefix/" 2>/dev/null || cp -a --remove-destination "$cache/$id/." "$prefix/" # another file system
  echo "$id" >"$stamp.new"
  mv "$stamp.new" "$stamp"
}
