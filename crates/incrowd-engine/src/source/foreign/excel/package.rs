//! Container of a workbook: XML documents in a zip archive. A document is decompressed and parsed
//! as a stream. Tags and texts longer than [`LONGEST`] are errors.

use std::borrow::Cow;
use std::io::{self, BufReader, Cursor, Read};

use hashbrown::HashMap;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

use super::super::Damage;
use crate::source::arrow::contain::contained;

/// Longest accepted tag or text in bytes. Excel allows 32,767 characters in a cell.
const LONGEST: usize = 16 << 20;
/// Maximum depth of nested elements. A workbook needs about ten.
const DEEPEST: usize = 64;
/// Longest accepted element name in bytes.
const LONGEST_NAME: usize = 256;

pub(super) fn broken() -> Damage {
    "its parts do not fit together".into()
}

/// The documents of a workbook.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Index of each document by path. The paths are in lower case, because Excel ignores case.
    places: HashMap<String, usize>,
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Package<'a>, Damage> {
        let archive = contained(|| ZipArchive::new(Cursor::new(bytes)));
        let archive = archive.map_err(|_| broken())?.map_err(|_| broken())?;
        let names = archive.file_names().enumerate();
        let places = names.filter_map(|(at, name)| Some((normal(&name.ok()?), at))).collect();
        Ok(Package { archive, places })
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.places.contains_key(&normal(path))
    }

    /// Opens the document at this path, if there is one.
    pub(super) fn document(&mut self, path: &str) -> Result<Option<Document<'_>>, Damage> {
        let Some(&place) = self.places.get(&normal(path)) else { return Ok(None) };
        let file = contained(|| self.archive.by_index(place));
        let file = file.map_err(|_| broken())?.map_err(|_| broken())?;
        let file: Box<dyn Read + '_> = Box::new(file);
        let mut reader = Reader::from_reader(BufReader::new(Limited { file, left: LONGEST }));
        reader.config_mut().expand_empty_elements = true;
        Ok(Some(Document { reader, buffer: Vec::new(), depth: 0 }))
    }
}

fn normal(path: &str) -> String {
    path.replace('\\', "/").to_ascii_lowercase()
}

/// Decompressing reader with a byte limit. The limit is reset for every tag and text.
struct Limited<'a> {
    file: Box<dyn Read + 'a>,
    left: usize,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other("too long"));
        }
        let most = buffer.len().min(self.left);
        let read = self.file.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}

/// Streaming parser of an XML document.
pub(super) struct Document<'a> {
    reader: Reader<BufReader<Limited<'a>>>,
    buffer: Vec<u8>,
    /// Number of open elements.
    depth: usize,
}

impl Document<'_> {
    /// Returns the next tag or text.
    pub(super) fn next(&mut self) -> Result<Event<'_>, Damage> {
        self.buffer.clear();
        self.reader.get_mut().get_mut().left = LONGEST;
        let (reader, buffer) = (&mut self.reader, &mut self.buffer);
        let event = contained(move || reader.read_event_into(buffer));
        let event = event.map_err(|_| broken())?.map_err(|_| broken())?;
        match &event {
            Event::Start(tag) => {
                self.depth += 1;
                if self.depth > DEEPEST || tag.name().as_ref().len() > LONGEST_NAME {
                    return Err(broken());
                }
            }
            Event::End(_) => self.depth = self.depth.checked_sub(1).ok_or_else(broken)?,
            Event::Eof if self.depth > 0 => return Err("it ends too early".into()),
            _ => {}
        }
        Ok(event)
    }

    /// Number of open elements.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Reads the text of the current element, without the text of nested elements.
    pub(super) fn text(&mut self) -> Result<String, Damage> {
        let own = self.depth;
        let mut text = String::new();
        while self.depth >= own {
            let here = self.depth == own;
            let event = self.next()?;
            if here {
                append(&event, &mut text)?;
            }
        }
        Ok(text)
    }

    /// Reads the text of the current string item: the text of its runs, without phonetic hints for
    /// East Asian text.
    pub(super) fn string(&mut self) -> Result<String, Damage> {
        let own = self.depth;
        let mut text = String::new();
        while self.depth >= own {
            let Event::Start(tag) = self.next()? else { continue };
            match tag.local_name().as_ref() {
                "t" => {
                    let keep = attribute(&tag, "space")?.is_some_and(|space| space == "preserve");
                    let run = self.text()?;
                    let run = if keep { &run } else { run.trim_matches([' ', '\t', '\r', '\n']) };
                    text.push_str(&unescaped(run));
                    if text.len() > LONGEST {
                        return Err(broken());
                    }
                }
                "rPh" => self.skip()?,
                _ => {}
            }
        }
        Ok(text)
    }

    /// Skips to the end of the current element.
    pub(super) fn skip(&mut self) -> Result<(), Damage> {
        let own = self.depth;
        while self.depth >= own {
            self.next()?;
        }
        Ok(())
    }
}

/// Appends the text of an event.
fn append(event: &Event<'_>, text: &mut String) -> Result<(), Damage> {
    match event {
        Event::Text(more) => text.push_str(&more.xml10_content()),
        Event::CData(more) => text.push_str(&more.xml10_content()),
        Event::GeneralRef(name) => match quick_xml::escape::resolve_xml_entity(name) {
            Some(character) => text.push_str(character),
            None => text.push(name.resolve_char_ref().ok().flatten().ok_or_else(broken)?),
        },
        _ => {}
    }
    if text.len() > LONGEST { Err(broken()) } else { Ok(()) }
}

/// Value of an attribute. The namespace prefix is ignored.
pub(super) fn attribute<'t>(
    tag: &'t BytesStart<'_>,
    name: &str,
) -> Result<Option<Cow<'t, str>>, Damage> {
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|_| broken())?;
        if attribute.key.local_name().as_ref() == name {
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|_| broken())?;
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Decodes escapes such as `_x000D_`. Excel writes characters that XML does not allow as UTF-16
/// code units in hexadecimal.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    let unit = |text: &str| -> Option<u16> {
        let digits = text.strip_prefix("_x")?.get(..5)?.strip_suffix('_')?;
        u16::from_str_radix(digits, 16)
            .ok()
            .filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    const LENGTH: usize = "_x000D_".len();
    let mut plain = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].find('_').map(|offset| at + offset) {
        let mut units = Vec::new();
        // A surrogate pair consists of two escapes.
        while let Some(unit) = unit(&text[found + LENGTH * units.len()..]) {
            units.push(unit);
            if !(0xd800..0xdc00).contains(&unit) {
                break;
            }
        }
        at = if units.is_empty() {
            found + 1
        } else {
            plain.push_str(&text[copied..found]);
            plain.push_str(&String::from_utf16_lossy(&units));
            copied = found + LENGTH * units.len();
            copied
        };
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    plain.push_str(&text[copied..]);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn characters_that_xml_does_not_allow_are_read() {
        for (written, meant) in [
            ("plain_x", "plain_x"),
            ("a_x000D_b", "a\rb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_xD83D__xDCF7_!", "\u{1f4f7}!"),
            ("_xD83D_", "\u{fffd}"),
            ("_x00zz_ _x+0D_", "_x00zz_ _x+0D_"),
            ("_xü00D_", "_xü00D_"),
        ] {
            assert_eq!(unescaped(written), meant, "{written}");
        }
    }
}
