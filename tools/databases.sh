#!/bin/sh
# Unpack the databases that applications ask, into .databases: `make databases` runs this.
#
# PostgreSQL and MariaDB are Debian's packages, downloaded by apt-get and taken apart. Nothing is
# installed, and no user, cluster or service is made. The lab runs their programs from .databases/bin,
# with their data in a folder that ends with the run.
set -eu
cd "$(dirname "$0")/.."
again='make databases'
say() { printf 'databases: %s\n' "$*" >&2; }
trap 'say "interrupted; to go on: $again"; exit 130' INT TERM HUP

# Where the lab is root they run as nobody, who must be able to enter the folder.
[ "$(id -u)" != 0 ] || setpriv --reuid=nobody --regid=nogroup --clear-groups test -x "$PWD" || {
    say "$PWD is closed to other users than root, and databases refuse to run as root:" \
        "move it elsewhere, then: $again"
    exit 1
}

# -- PostgreSQL and MariaDB ------------------------------------------------------------------------

# Print the packages to take apart: the servers, their tools, and each library that this machine
# lacks. apt-get knows which, as if it were to install them; LLVM is for a compiler that is left off.
debian_packages() {
    postgresql=$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: \(postgresql-[0-9]*\)$/\1/p')
    packages="$postgresql postgresql-client-${postgresql#*-} mariadb-server-core mariadb-client-core"
    # shellcheck disable=SC2086 # a list of names
    said=$(apt-get -s install --no-install-recommends $packages 2>/dev/null) || return 1
    echo "$packages"
    echo "$said" | sed -n -e '/^Inst lib\(llvm\|z3\)/d' -e 's/^Inst \(lib[^ ]*\) (.*/\1/p'
}

# What each program of .databases/bin is: the unpacked one, with the libraries that came with it.
write_launcher() {
    cat <<'LAUNCHER'
#!/bin/sh
root=${0%/*}/../root name=${0##*/}
for folder in "$root"/usr/lib/*-linux-gnu* "$root"/lib/*-linux-gnu*; do
    LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
for program in "$root"/usr/lib/postgresql/*/bin/"$name" "$root"/usr/sbin/"$name" "$root"/usr/bin/"$name"; do
    [ ! -x "$program" ] || break
done
case $name in
    mariadb) set -- --no-defaults "$@" ;;
    mariadb*) set -- --no-defaults --basedir="$root/usr" "$@" ;;
esac
exec "$program" "$@"
LAUNCHER
}

unpack_debian() {
    command -v apt-get >/dev/null && command -v dpkg >/dev/null ||
        { say "PostgreSQL and MariaDB are missing: there is no apt-get here"; return 1; }
    packages=$(debian_packages) ||
        { [ "$(id -u)" = 0 ] && apt-get update -qq && packages=$(debian_packages); } ||
        { say "PostgreSQL and MariaDB are missing: apt-get does not know them:" \
              "sudo apt-get update && $again"; return 1; }
    say "unpacking PostgreSQL and MariaDB"
    rm -rf .databases/debs .databases/root
    mkdir -p .databases/debs .databases/root .databases/bin
    # As root, apt-get would download as a user of its own, who may not write here.
    # shellcheck disable=SC2086 # a list of names
    (cd .databases/debs && apt-get -qq -o APT::Sandbox::User=root download $packages >&2) ||
        { say "PostgreSQL and MariaDB are missing: they cannot be downloaded;" \
              "when there is a network: $again"; return 1; }
    for package in .databases/debs/*.deb; do dpkg -x "$package" .databases/root; done
    rm -r .databases/debs
    write_launcher >.databases/bin/postgres
    chmod 755 .databases/bin/postgres
    for program in initdb pg_isready psql mariadbd mariadb-install-db mariadb; do
        cp .databases/bin/postgres ".databases/bin/$program"
    done
    .databases/bin/postgres --version >&2 && .databases/bin/mariadbd --version >&2 ||
        { say "PostgreSQL or MariaDB does not run; the reason is above"; return 1; }
}

# -- in MongoDB's place ----------------------------------------------------------------------------

# mongo-java-server, by Maven. 1 where there is no Java, or the files are not those that were looked at.
unpack_java() {
    command -v mvn >/dev/null && command -v javac >/dev/null || return 1
    say "fetching mongo-java-server"
    mvn -q -B -Dstyle.color=never "-Dmaven.repo.local=$PWD/$new/m2" -f loadtests/backing/mongodb.pom.xml \
        dependency:copy-dependencies "-DoutputDirectory=$PWD/$new/lib" >&2 &&
        (cd $new/lib && sha256sum --quiet --strict -c ../../../loadtests/backing/mongodb.sha256 >&2) &&
        javac -cp "$new/lib/*" -d $new loadtests/backing/mongodb.java || return 1
    rm -rf $new/m2
    cat >.databases/bin/mongodb <<'LAUNCHER'
#!/bin/sh
[ "$1" != --version ] || { echo "mongo-java-server 1.47.0"; exit 0; }
classes=${0%/*}/../mongodb
exec java -Xmx256m -cp "$classes:$classes/lib/*" MongoDB "$1"
LAUNCHER
}

# SecantusDB, by pip, in an environment of its own.
unpack_python() {
    say "installing SecantusDB, as there is no mongo-java-server without Java and Maven:" \
        "sudo apt-get install default-jdk-headless maven, rm -r .databases, $again"
    "${PYTHON:-python3}" -m venv $new &&
        $new/bin/python -m pip --disable-pip-version-check --quiet --no-input install \
            --require-hashes -r requirements/secantusdb.txt || return 1
    cat >.databases/bin/mongodb <<'LAUNCHER'
#!/bin/sh
own=${0%/*}/../mongodb/bin
[ "$1" != --version ] || exec "$own/python" -c 'from importlib.metadata import version
print("SecantusDB", version("secantusdb"))'
exec "$own/python" "$own/secantusd-py" --port "$1" --storage-path :memory:
LAUNCHER
}

unpack_mongodb() {
    new=.databases/mongodb
    rm -rf $new
    mkdir -p $new .databases/bin
    { unpack_java || { rm -rf $new && unpack_python; }; } && chmod 755 .databases/bin/mongodb || {
        say "what stands in MongoDB's place is missing; the reason is above. When it is mended: $again"
        return 1
    }
}

# -- each of both, unless it was done by these files as they are -----------------------------------

done_by() {
    case $part in
        debian) cat tools/databases.sh ;;
        mongodb) cat tools/databases.sh loadtests/backing/mongodb.* requirements/secantusdb.txt ;;
    esac | cksum
}

umask 022
status=0
for part in debian mongodb; do
    stamp=.databases/$part.stamp
    [ "$(cat $stamp 2>/dev/null)" = "$(done_by)" ] && continue
    rm -f $stamp
    if unpack_$part; then done_by >$stamp; else status=1; fi
done
exit $status
