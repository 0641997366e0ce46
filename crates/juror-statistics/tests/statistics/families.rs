//! The methods by family: from the input of a case to the result.

use std::collections::HashMap;

use juror_statistics::{
    AlphaLevel, Bootstrap, CONFIDENCE, Design, GateLevel, Interval, JudgedCounts, PairedCounts,
    agreement as agreement_of, alpha as alpha_of, benjamini_hochberg, corrected_rate as correct,
    fleiss_kappa, holm, judge_noise as noise_of, least_detectable, macro_mean, margin_verdict,
    mcnemar as mcnemar_of, mean as mean_of, median, newcombe as newcombe_of, paired as paired_of,
    pass_at_k, pass_hat_k, prediction_powered as predict, proportion as proportion_of,
    questions_needed, repeats_needed,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A method: from `input` to what is compared with `expected`.
type Method = fn(&Value) -> Value;

/// The families of recorded cases.
pub(crate) const FAMILIES: [(&str, Method); 17] = [
    ("mean", mean),
    ("proportion", proportion),
    ("macro", macro_of),
    ("paired", paired),
    ("mcnemar", mcnemar),
    ("newcombe", newcombe),
    ("multiplicity", multiplicity),
    ("trials", trials),
    ("judge_noise", judge_noise),
    ("agreement", agreement),
    ("fleiss", fleiss),
    ("alpha", alpha),
    ("corrected_rate", corrected_rate),
    ("prediction_powered", prediction_powered),
    ("planning", planning),
    ("gate", gate),
    ("bootstrap", bootstrap),
];

fn get<T: DeserializeOwned>(input: &Value, key: &str) -> T {
    serde_json::from_value(input[key].clone()).unwrap_or_else(|error| panic!("{key}: {error}"))
}

fn confidence(input: &Value) -> f64 {
    input["confidence"].as_f64().unwrap_or(CONFIDENCE)
}

/// Returns the clusters as numbers, which labels get as they appear.
fn clusters(input: &Value) -> Option<Vec<u32>> {
    let labels: Vec<String> = get::<Option<_>>(input, "clusters")?;
    let mut ids = HashMap::new();
    let mut id = |label| {
        let next = u32::try_from(ids.len()).expect("few clusters");
        *ids.entry(label).or_insert(next)
    };
    Some(labels.into_iter().map(&mut id).collect())
}

fn mean(input: &Value) -> Value {
    let values: Vec<f64> = get(input, "values");
    json!(mean_of(&values, clusters(input).as_deref(), confidence(input)))
}

fn proportion(input: &Value) -> Value {
    json!(proportion_of(get(input, "successes"), get(input, "n"), confidence(input)))
}

fn macro_of(input: &Value) -> Value {
    let templates: HashMap<String, Vec<f64>> = get(input, "templates");
    let templates: Vec<Vec<f64>> = templates.into_values().collect();
    json!(macro_mean(&templates))
}

fn paired(input: &Value) -> Value {
    let (a, b): (Vec<f64>, Vec<f64>) = (get(input, "a"), get(input, "b"));
    json!(paired_of(&a, &b, clusters(input).as_deref(), confidence(input)))
}

fn mcnemar(input: &Value) -> Value {
    json!(mcnemar_of(get(input, "lost"), get(input, "won")))
}

fn newcombe(input: &Value) -> Value {
    let counts = PairedCounts {
        both: get(input, "both"),
        lost: get(input, "lost"),
        won: get(input, "won"),
        neither: get(input, "neither"),
    };
    json!(newcombe_of(counts, confidence(input)))
}

fn multiplicity(input: &Value) -> Value {
    let p: Vec<f64> = get(input, "p");
    json!({"holm": holm(&p), "benjamini_hochberg": benjamini_hochberg(&p)})
}

fn trials(input: &Value) -> Value {
    let (trials, successes, k) = (get(input, "trials"), get(input, "successes"), get(input, "k"));
    json!({
        "pass_at_k": pass_at_k(trials, successes, k),
        "pass_hat_k": pass_hat_k(trials, successes, k),
    })
}

fn judge_noise(input: &Value) -> Value {
    json!(noise_of(&get::<Vec<Vec<f64>>>(input, "verdicts")))
}

fn agreement(input: &Value) -> Value {
    json!(agreement_of(&get::<Vec<Vec<u64>>>(input, "table")))
}

fn fleiss(input: &Value) -> Value {
    json!({"kappa": fleiss_kappa(&get::<Vec<Vec<u64>>>(input, "table"))})
}

fn alpha(input: &Value) -> Value {
    let ratings: Vec<Vec<Option<f64>>> = get(input, "ratings");
    json!({
        "nominal": alpha_of(&ratings, AlphaLevel::Nominal),
        "ordinal": alpha_of(&ratings, AlphaLevel::Ordinal),
        "interval": alpha_of(&ratings, AlphaLevel::Interval),
        "ratio": alpha_of(&ratings, AlphaLevel::Ratio),
    })
}

fn corrected_rate(input: &Value) -> Value {
    let counts = JudgedCounts {
        judge_passes: get(input, "judge_passes"),
        n: get(input, "n"),
        human_passes: get(input, "human_passes"),
        judge_agrees_on_passes: get(input, "judge_agrees_on_passes"),
        human_fails: get(input, "human_fails"),
        judge_agrees_on_fails: get(input, "judge_agrees_on_fails"),
    };
    let Ok(found) = correct(&counts, confidence(input)) else { return json!({"refused": true}) };
    let mut found = json!(found);
    found["refused"] = json!(false);
    found
}

fn prediction_powered(input: &Value) -> Value {
    let [all, judge, human] =
        ["judge_all", "judge_labelled", "human_labelled"].map(|key| get::<Vec<f64>>(input, key));
    json!(predict(&all, &judge, &human, confidence(input)))
}

/// A case names the difference, or the questions, or both.
fn planning(input: &Value) -> Value {
    let design = Design {
        variance_of_differences: get(input, "variance_of_differences"),
        variance_within: get(input, "variance_within"),
        repeats: get(input, "repeats"),
        deff: get(input, "deff"),
        power: get(input, "power"),
        significance: get(input, "significance"),
    };
    let (delta, questions) = (input["delta"].as_f64(), input["questions"].as_u64());
    json!({
        "questions": delta.and_then(|delta| questions_needed(delta, &design)),
        "delta": questions.and_then(|questions| least_detectable(questions, &design)),
        "repeats": delta.zip(questions).and_then(|(delta, n)| repeats_needed(delta, n, &design)),
    })
}

fn gate(input: &Value) -> Value {
    let [low, high]: [f64; 2] = get(input, "interval");
    let level = match input["level"].as_str() {
        Some("warn") => GateLevel::Warn,
        Some("block") => GateLevel::Block,
        other => panic!("unknown level {other:?}"),
    };
    json!({"verdict": margin_verdict(Interval { low, high }, get(input, "max_drop"), level)})
}

/// The interval of a median, from numbers drawn as documented.
fn bootstrap(input: &Value) -> Value {
    let options = Bootstrap {
        seed: get(input, "seed"),
        n_resamples: get(input, "n_resamples"),
        confidence: confidence(input),
    };
    let values: Vec<f64> = get(input, "values");
    json!(options.run(&values, clusters(input).as_deref(), median))
}
