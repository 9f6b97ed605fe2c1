//! Places where a release cannot go.

use crate::room::Room;

fn refuses(room: &Room, output: &str, says: &[&str]) {
    room.refuses(&format!("anonymize people.csv --quasi age,zip -k 2 {output}")).exits(2).says(says);
}

#[test]
fn a_directory_that_does_not_exist_is_not_made() {
    let room = Room::with_old_release();
    let says = &["cannot write `no/such/out.csv`", "its directory does not exist"];
    refuses(&room, "-o no/such/out.csv", says);
}

#[test]
fn a_directory_is_no_output() {
    let room = Room::with_old_release();
    room.write("releases.csv/old.csv", "old\n");
    refuses(&room, "-o releases.csv", &["`releases.csv` is a directory", "name a file in it"]);
}

#[test]
fn a_path_through_a_file_is_no_output() {
    let room = Room::with_old_release();
    refuses(&room, "-o people.csv/out.csv", &["cannot write `people.csv/out.csv`", "not a directory"]);
}

#[test]
fn the_input_is_never_the_output() {
    let room = Room::with_old_release();
    std::fs::create_dir(room.path().join("sub")).unwrap();
    for output in ["people.csv", "./people.csv", "sub/../people.csv"] {
        refuses(&room, &format!("-o {output}"), &["the release would overwrite a file that is read"]);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("people.csv", room.path().join("link.csv")).unwrap();
        refuses(&room, "-o link.csv", &["the release would overwrite a file that is read"]);
    }
}

#[test]
fn one_of_several_inputs_is_never_the_output() {
    let room = Room::with_old_release();
    room.write("more.csv", crate::room::PEOPLE);
    // The second is a pattern, which matches `people.csv` and `more.csv`.
    for inputs in ["people.csv more.csv", "*o*e*.csv"] {
        let typed = format!("anonymize {inputs} --quasi age,zip -k 2 -o more.csv");
        room.refuses(&typed).exits(2).says(&["the release would overwrite a file that is read"]);
        let typed = format!("anonymize {inputs} --quasi age,zip -k 2 -o out.csv --manifest more.csv");
        room.refuses(&typed).exits(2).says(&["the manifest would overwrite a file that is read"]);
    }
}

#[test]
fn an_unknown_extension_comes_with_those_that_are_known() {
    let room = Room::with_old_release();
    for name in ["out.xlsx", "out", "out.csv.bz2", "out.parquet.gz"] {
        let says = &[&*format!("cannot tell the format of `{name}`"), ".csv.gz", ".parquet", ".arrow"];
        refuses(&room, &format!("-o {name}"), says);
    }
}

#[test]
fn a_release_needs_a_place() {
    let room = Room::with_old_release();
    refuses(&room, "", &["does not say where the release goes", "`[output] path` (-o)"]);
    refuses(&room, "--order sorted", &["[output] needs `path`", "from: --order", "(-o)"]);
}

#[test]
fn a_manifest_that_cannot_be_written_stops_the_release() {
    let room = Room::with_old_release();
    let says = &["cannot write `no/such.json`", "its directory does not exist"];
    refuses(&room, "-o out.csv --manifest no/such.json", says);
    let says = &["the manifest would go where another output of the same run goes"];
    refuses(&room, "-o out.csv --manifest out.csv", says);
    refuses(&room, "-o out.csv --manifest ./out.csv", says);
}

#[test]
fn a_hierarchy_that_cannot_be_written_is_said() {
    let room = Room::with_old_release();
    let says = &["cannot write `no/zip.csv`"];
    room.refuses("hierarchy build people.csv zip --kind mask -o no/zip.csv").exits(2).says(says);
}

#[test]
fn a_hierarchy_is_never_the_output() {
    let room = Room::with_old_release();
    room.does("hierarchy build people.csv zip --kind mask -o zip.csv");
    let asked = "--hierarchy zip=zip.csv";
    for output in ["zip.csv", "./zip.csv"] {
        refuses(&room, &format!("{asked} -o {output}"), &["the release would overwrite a file that is read"]);
    }
    let says = &["the manifest would overwrite a file that is read"];
    refuses(&room, &format!("{asked} -o out.csv --manifest zip.csv"), says);
    room.write("hierarchies/zip.csv", room.bytes("zip.csv"));
    let says = &["the release would overwrite a file that is read"];
    refuses(&room, "--hierarchies hierarchies -o hierarchies/zip.csv", says);
}

#[test]
fn a_hierarchy_never_overwrites_its_table() {
    let room = Room::with_old_release();
    for output in ["people.csv", "./people.csv"] {
        let typed = format!("hierarchy build people.csv zip --kind mask -o {output}");
        room.refuses(&typed).exits(2).says(&["a file this is made from", "another file"]);
    }
}
