use super::*;

#[test]
fn what_the_folder_and_the_state_folder_say_of_each_other_is_judged_as_a_table() {
    let [first, second, third] = [1, 2, 3].map(Uuid::from_u128);
    let folder = tempfile::TempDir::new().unwrap();
    let judge = |own: (Option<Uuid>, Option<Uuid>, i64, u32), kept: Option<(Uuid, i64, u32, i64, &str)>| {
        let own = InstallationRow {
            installation_id: uuid(&crate::random::OsEntropy),
            start_id: own.0,
            previous_start_id: own.1,
            last_sequence: own.2,
            last_shift: own.3,
            last_z: 1,
        };
        let claim = Witness::claim(folder.path(), own.installation_id).unwrap();
        let Claim::Taken(mut witness) = claim else { panic!("held") };
        if let Some((start_id, last_sequence, last_shift, last_z, machine)) = kept {
            let machine = Machine::named(machine);
            witness.keep(Record { start_id, last_sequence, last_shift, last_z, machine }).unwrap();
        }
        suspicion(&own, &Claim::Taken(witness), &Machine::named("m"), own.start_id.is_none())
    };
    let own = (Some(second), Some(first), 9, 2);
    assert_eq!(judge(own, Some((second, 9, 2, 1, "m"))), None);
    assert_eq!(judge(own, Some((second, 7, 1, 1, "m"))), None, "a crash before the numbers were noted");
    assert_eq!(judge(own, Some((first, 9, 2, 1, "m"))), None, "a crash between the two writes of a start");
    assert_eq!(judge(own, Some((third, 9, 2, 1, "m"))), Some(EpochReason::WentBack), "a later run");
    assert_eq!(
        judge(own, Some((second, 10, 2, 1, "m"))),
        Some(EpochReason::WentBack),
        "later sales of the same run"
    );
    assert_eq!(judge(own, Some((second, 9, 3, 1, "m"))), Some(EpochReason::WentBack), "a later shift");
    assert_eq!(judge(own, Some((second, 9, 2, 2, "m"))), Some(EpochReason::WentBack), "a later closing");
    assert_eq!(judge(own, Some((second, 9, 2, 1, "n"))), Some(EpochReason::OtherMachine));
    assert_eq!(judge(own, None), Some(EpochReason::WitnessMissing));
    assert_eq!(judge((None, None, 0, 0), None), None, "the first start of all");
    let own = InstallationRow {
        installation_id: first,
        start_id: Some(second),
        previous_start_id: None,
        last_sequence: 0,
        last_shift: 0,
        last_z: 0,
    };
    let held = suspicion(&own, &Claim::Held, &Machine::named("m"), false);
    assert_eq!(held, Some(EpochReason::FolderCopied));
}
