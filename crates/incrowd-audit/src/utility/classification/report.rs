//! Reports of classification. Averages over folds may be published. Scores of single folds are only
//! for the data owner.

use incrowd_core::text::{Block, number, thousands};
use serde_json::{Value as Json, json};

use super::{Classification, Scores};
use crate::utility::Measured;

impl Measured for Classification {
    fn public_json(&self) -> Json {
        json!({
            "target": self.target,
            "classes": self.classes,
            "seed": self.seed,
            "records_drawn": { "original": self.originals, "release": self.published },
            "folds": self.folds,
            "from_release": self.from_release.to_json(),
            "from_originals": self.from_originals.to_json(),
            "majority": self.majority.to_json(),
        })
    }

    fn private_json(&self) -> Option<(&'static str, Json)> {
        let fold = |(release, originals): &(Scores, Scores)| {
            let (release, originals) = (release.to_json(), originals.to_json());
            json!({ "from_release": release, "from_originals": originals })
        };
        Some(("classification_by_fold", self.by_fold.iter().map(fold).collect()))
    }

    fn public_text(&self) -> Vec<Block> {
        let about = format!(
            "predicting {} ({} values) from the quasi-identifiers with decision trees, tested on \
             the original; {} original and {} published records drawn, {} folds, seed {}",
            self.target,
            self.classes,
            thousands(self.originals),
            thousands(self.published),
            self.folds,
            self.seed
        );
        let auc = self.from_originals.auc.is_some();
        let mut head = vec!["trained on", "accuracy", "balanced accuracy", "macro F1"];
        head.extend(auc.then_some("AUC"));
        let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
        let all = [
            ("the release", &self.from_release),
            ("the original", &self.from_originals),
            ("nothing (majority)", &self.majority),
        ];
        for (name, scores) in all {
            let figures = [scores.accuracy, scores.balanced_accuracy, scores.macro_f1].map(number);
            let mut row = vec![name.to_owned()];
            row.extend(figures);
            row.extend(auc.then(|| scores.auc.map_or_else(|| "-".into(), number)));
            rows.push(row);
        }
        let caveat = " the release contains generalized records of the people on whom the tree is \
                      tested, which slightly favours it";
        vec![Block::line(""), Block::Line(about), Block::Table(rows), Block::line(caveat)]
    }

    fn private_text(&self) -> Vec<Block> {
        let fold = |(release, originals): &(Scores, Scores)| {
            format!("{} / {}", number(release.accuracy), number(originals.accuracy))
        };
        let folds: Vec<String> = self.by_fold.iter().map(fold).collect();
        let folds = folds.join("   ");
        let line = format!("accuracy by fold, trained on the release / the original: {folds}");
        vec![Block::line(""), Block::Line(line)]
    }
}

impl Scores {
    fn to_json(self) -> Json {
        json!({
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "macro_f1": self.macro_f1,
            "auc": self.auc,
        })
    }
}
