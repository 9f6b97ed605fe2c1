//! Countries in the regions and subregions of the United Nations (M49).

/// A subregion: its name, its region, and its countries, each with two letters, three letters and
/// names, separated by `|`.
type Subregion = (&'static str, &'static str, &'static [&'static str]);

const SUBREGIONS: &[Subregion] = &[
    (
        "Northern Africa",
        "Africa",
        &[
            "DZ|DZA|Algeria",
            "EG|EGY|Egypt",
            "LY|LBY|Libya",
            "MA|MAR|Morocco",
            "SD|SDN|Sudan",
            "TN|TUN|Tunisia",
            "EH|ESH|Western Sahara",
        ],
    ),
    (
        "Eastern Africa",
        "Africa",
        &[
            "IO|IOT|British Indian Ocean Territory",
            "BI|BDI|Burundi",
            "KM|COM|Comoros",
            "DJ|DJI|Djibouti",
            "ER|ERI|Eritrea",
            "ET|ETH|Ethiopia",
            "TF|ATF|French Southern Territories",
            "KE|KEN|Kenya",
            "MG|MDG|Madagascar",
            "MW|MWI|Malawi",
            "MU|MUS|Mauritius",
            "YT|MYT|Mayotte",
            "MZ|MOZ|Mozambique",
            "RE|REU|Réunion|Reunion",
            "RW|RWA|Rwanda",
            "SC|SYC|Seychelles",
            "SO|SOM|Somalia",
            "SS|SSD|South Sudan",
            "UG|UGA|Uganda",
            "TZ|TZA|Tanzania|United Republic of Tanzania",
            "ZM|ZMB|Zambia",
            "ZW|ZWE|Zimbabwe",
        ],
    ),
    (
        "Middle Africa",
        "Africa",
        &[
            "AO|AGO|Angola",
            "CM|CMR|Cameroon",
            "CF|CAF|Central African Republic",
            "TD|TCD|Chad",
            "CG|COG|Congo",
            "CD|COD|Democratic Republic of the Congo|DR Congo",
            "GQ|GNQ|Equatorial Guinea",
            "GA|GAB|Gabon",
            "ST|STP|Sao Tome and Principe",
        ],
    ),
    (
        "Southern Africa",
        "Africa",
        &[
            "BW|BWA|Botswana",
            "SZ|SWZ|Eswatini|Swaziland",
            "LS|LSO|Lesotho",
            "NA|NAM|Namibia",
            "ZA|ZAF|South Africa",
        ],
    ),
    (
        "Western Africa",
        "Africa",
        &[
            "BJ|BEN|Benin",
            "BF|BFA|Burkina Faso",
            "CV|CPV|Cabo Verde|Cape Verde",
            "CI|CIV|Côte d'Ivoire|Ivory Coast|Cote d'Ivoire",
            "GM|GMB|Gambia",
            "GH|GHA|Ghana",
            "GN|GIN|Guinea",
            "GW|GNB|Guinea-Bissau",
            "LR|LBR|Liberia",
            "ML|MLI|Mali",
            "MR|MRT|Mauritania",
            "NE|NER|Niger",
            "NG|NGA|Nigeria",
            "SH|SHN|Saint Helena",
            "SN|SEN|Senegal",
            "SL|SLE|Sierra Leone",
            "TG|TGO|Togo",
        ],
    ),
    (
        "Caribbean",
        "Americas",
        &[
            "AI|AIA|Anguilla",
            "AG|ATG|Antigua and Barbuda",
            "AW|ABW|Aruba",
            "BS|BHS|Bahamas",
            "BB|BRB|Barbados",
            "BQ|BES|Bonaire, Sint Eustatius and Saba",
            "VG|VGB|British Virgin Islands",
            "KY|CYM|Cayman Islands",
            "CU|CUB|Cuba",
            "CW|CUW|Curaçao|Curacao",
            "DM|DMA|Dominica",
            "DO|DOM|Dominican Republic",
            "GD|GRD|Grenada",
            "GP|GLP|Guadeloupe",
            "HT|HTI|Haiti",
            "JM|JAM|Jamaica",
            "MQ|MTQ|Martinique",
            "MS|MSR|Montserrat",
            "PR|PRI|Puerto Rico",
            "BL|BLM|Saint Barthélemy",
            "KN|KNA|Saint Kitts and Nevis",
            "LC|LCA|Saint Lucia",
            "MF|MAF|Saint Martin",
            "VC|VCT|Saint Vincent and the Grenadines",
            "SX|SXM|Sint Maarten",
            "TT|TTO|Trinidad and Tobago|Trinidad & Tobago",
            "TC|TCA|Turks and Caicos Islands",
            "VI|VIR|US Virgin Islands|United States Virgin Islands",
        ],
    ),
    (
        "Central America",
        "Americas",
        &[
            "BZ|BLZ|Belize",
            "CR|CRI|Costa Rica",
            "SV|SLV|El Salvador",
            "GT|GTM|Guatemala",
            "HN|HND|Honduras",
            "MX|MEX|Mexico",
            "NI|NIC|Nicaragua",
            "PA|PAN|Panama",
        ],
    ),
    (
        "South America",
        "Americas",
        &[
            "AR|ARG|Argentina",
            "BO|BOL|Bolivia",
            "BV|BVT|Bouvet Island",
            "BR|BRA|Brazil",
            "CL|CHL|Chile",
            "CO|COL|Colombia|Columbia",
            "EC|ECU|Ecuador",
            "FK|FLK|Falkland Islands",
            "GF|GUF|French Guiana",
            "GY|GUY|Guyana",
            "PY|PRY|Paraguay",
            "PE|PER|Peru",
            "GS|SGS|South Georgia and the South Sandwich Islands",
            "SR|SUR|Suriname",
            "UY|URY|Uruguay",
            "VE|VEN|Venezuela",
        ],
    ),
    (
        "Northern America",
        "Americas",
        &[
            "BM|BMU|Bermuda",
            "CA|CAN|Canada",
            "GL|GRL|Greenland",
            "PM|SPM|Saint Pierre and Miquelon",
            "US|USA|United States|United States of America",
        ],
    ),
    (
        "Central Asia",
        "Asia",
        &[
            "KZ|KAZ|Kazakhstan",
            "KG|KGZ|Kyrgyzstan",
            "TJ|TJK|Tajikistan",
            "TM|TKM|Turkmenistan",
            "UZ|UZB|Uzbekistan",
        ],
    ),
    (
        "Eastern Asia",
        "Asia",
        &[
            "CN|CHN|China",
            "HK|HKG|Hong Kong|Hong",
            "MO|MAC|Macao|Macau",
            "KP|PRK|North Korea",
            "JP|JPN|Japan",
            "MN|MNG|Mongolia",
            "KR|KOR|South Korea|Korea|Republic of Korea",
            "TW|TWN|Taiwan",
        ],
    ),
    (
        "South-eastern Asia",
        "Asia",
        &[
            "BN|BRN|Brunei|Brunei Darussalam",
            "KH|KHM|Cambodia",
            "ID|IDN|Indonesia",
            "LA|LAO|Laos",
            "MY|MYS|Malaysia",
            "MM|MMR|Myanmar|Burma",
            "PH|PHL|Philippines",
            "SG|SGP|Singapore",
            "TH|THA|Thailand",
            "TL|TLS|Timor-Leste|East Timor",
            "VN|VNM|Vietnam|Viet Nam",
        ],
    ),
    (
        "Southern Asia",
        "Asia",
        &[
            "AF|AFG|Afghanistan",
            "BD|BGD|Bangladesh",
            "BT|BTN|Bhutan",
            "IN|IND|India",
            "IR|IRN|Iran",
            "MV|MDV|Maldives",
            "NP|NPL|Nepal",
            "PK|PAK|Pakistan",
            "LK|LKA|Sri Lanka",
        ],
    ),
    (
        "Western Asia",
        "Asia",
        &[
            "AM|ARM|Armenia",
            "AZ|AZE|Azerbaijan",
            "BH|BHR|Bahrain",
            "CY|CYP|Cyprus",
            "GE|GEO|Georgia",
            "IQ|IRQ|Iraq",
            "IL|ISR|Israel",
            "JO|JOR|Jordan",
            "KW|KWT|Kuwait",
            "LB|LBN|Lebanon",
            "OM|OMN|Oman",
            "QA|QAT|Qatar",
            "SA|SAU|Saudi Arabia",
            "PS|PSE|Palestine|State of Palestine",
            "SY|SYR|Syria",
            "TR|TUR|Turkey|Türkiye|Turkiye",
            "AE|ARE|United Arab Emirates",
            "YE|YEM|Yemen",
        ],
    ),
    (
        "Eastern Europe",
        "Europe",
        &[
            "BY|BLR|Belarus",
            "BG|BGR|Bulgaria",
            "CZ|CZE|Czechia|Czech Republic",
            "HU|HUN|Hungary",
            "PL|POL|Poland",
            "MD|MDA|Moldova",
            "RO|ROU|Romania",
            "RU|RUS|Russia|Russian Federation",
            "SK|SVK|Slovakia",
            "UA|UKR|Ukraine",
        ],
    ),
    (
        "Northern Europe",
        "Europe",
        &[
            "AX|ALA|Åland Islands",
            "DK|DNK|Denmark",
            "EE|EST|Estonia",
            "FO|FRO|Faroe Islands",
            "FI|FIN|Finland",
            "GG|GGY|Guernsey",
            "IS|ISL|Iceland",
            "IE|IRL|Ireland",
            "IM|IMN|Isle of Man",
            "JE|JEY|Jersey",
            "LV|LVA|Latvia",
            "LT|LTU|Lithuania",
            "NO|NOR|Norway",
            "SJ|SJM|Svalbard and Jan Mayen",
            "SE|SWE|Sweden",
            "GB|GBR|United Kingdom|UK|Great Britain|England|Scotland|Wales|Northern Ireland",
        ],
    ),
    (
        "Southern Europe",
        "Europe",
        &[
            "AL|ALB|Albania",
            "AD|AND|Andorra",
            "BA|BIH|Bosnia and Herzegovina|Bosnia",
            "HR|HRV|Croatia",
            "GI|GIB|Gibraltar",
            "GR|GRC|Greece",
            "VA|VAT|Holy See|Vatican",
            "IT|ITA|Italy",
            "MT|MLT|Malta",
            "ME|MNE|Montenegro",
            "MK|MKD|North Macedonia|Macedonia",
            "PT|PRT|Portugal",
            "SM|SMR|San Marino",
            "RS|SRB|Serbia",
            "SI|SVN|Slovenia",
            "ES|ESP|Spain",
            "XK|XKX|Kosovo",
            "YU|YUG|Yugoslavia",
        ],
    ),
    (
        "Western Europe",
        "Europe",
        &[
            "AT|AUT|Austria",
            "BE|BEL|Belgium",
            "FR|FRA|France",
            "DE|DEU|Germany",
            "LI|LIE|Liechtenstein",
            "LU|LUX|Luxembourg",
            "MC|MCO|Monaco",
            "NL|NLD|Netherlands|Holland",
            "CH|CHE|Switzerland",
        ],
    ),
    (
        "Australia and New Zealand",
        "Oceania",
        &[
            "AU|AUS|Australia",
            "CX|CXR|Christmas Island",
            "CC|CCK|Cocos Islands",
            "HM|HMD|Heard Island and McDonald Islands",
            "NZ|NZL|New Zealand",
            "NF|NFK|Norfolk Island",
        ],
    ),
    (
        "Melanesia",
        "Oceania",
        &[
            "FJ|FJI|Fiji",
            "NC|NCL|New Caledonia",
            "PG|PNG|Papua New Guinea",
            "SB|SLB|Solomon Islands",
            "VU|VUT|Vanuatu",
        ],
    ),
    (
        "Micronesia",
        "Oceania",
        &[
            "GU|GUM|Guam",
            "KI|KIR|Kiribati",
            "MH|MHL|Marshall Islands",
            "FM|FSM|Federated States of Micronesia",
            "NR|NRU|Nauru",
            "MP|MNP|Northern Mariana Islands",
            "PW|PLW|Palau",
            "UM|UMI|US Minor Outlying Islands",
        ],
    ),
    (
        "Polynesia",
        "Oceania",
        &[
            "AS|ASM|American Samoa",
            "CK|COK|Cook Islands",
            "PF|PYF|French Polynesia",
            "NU|NIU|Niue",
            "PN|PCN|Pitcairn",
            "WS|WSM|Samoa",
            "TK|TKL|Tokelau",
            "TO|TON|Tonga",
            "TV|TUV|Tuvalu",
            "WF|WLF|Wallis and Futuna",
        ],
    ),
    ("Antarctica", "Antarctic", &["AQ|ATA|Antarctic Treaty area"]),
];

/// `DE`, `DEU` and `Germany` are in `Western Europe` and `Europe`. Letters must be upper case;
/// blanks, dashes and case of names are ignored.
pub(super) fn path(text: &str) -> Option<Vec<String>> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', '.'], " ");
    let name = plain(text);
    let name = name.strip_prefix("the ").unwrap_or(&name);
    let is = |country: &&str| {
        let mut words = country.split('|');
        let letters = [words.next(), words.next()].contains(&Some(text));
        letters || words.any(|word| plain(word) == name)
    };
    let (subregion, region, _) =
        SUBREGIONS.iter().find(|(_, _, countries)| countries.iter().any(&is))?;
    Some(vec![(*subregion).to_owned(), (*region).to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letters_are_given_twice() {
        let all = || SUBREGIONS.iter().flat_map(|(_, _, countries)| countries.iter());
        // 249 of ISO 3166, Kosovo, and one former country, which occurs as a birthplace.
        assert_eq!(all().count(), 251);
        let mut words: Vec<String> =
            all().flat_map(|c| c.split('|')).map(str::to_lowercase).collect();
        words.sort();
        let before = words.len();
        words.dedup();
        assert_eq!(words.len(), before);
    }
}
