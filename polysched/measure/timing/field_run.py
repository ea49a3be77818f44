"""The child process that verifies versions of a function against it and times each in pairs with a reference.

Started by `measure.processes.isolation.run_isolated` as `python -m polysched.measure.timing.field_run REQUEST REPORTS`;
the request is made by `measure.field`.  The reference is the session's candidate.  A version is judged as a whole
before the next one is looked at.
"""

from __future__ import annotations

from polysched.measure.timing.paired_run import Program, Session, run_session


def judge_versions(session: Session) -> None:
    """One version after the other, until one wrote where the guards are: they cannot be trusted again."""
    for version in session.versions:
        session.reporter.report(entry=version.name)
        if judge(session, version) and judge(session, version):
            time_version(session, version)
            judge(session, version)
        session.reporter.report(done=version.name)
        if session.overwritten() is not None:
            return


def judge(session: Session, version: Program) -> bool:
    """Run a version and report what it left; whether all is right."""
    session.reporter.phase(f"running the version {version.name}")
    session.run(version)
    overwritten = session.overwritten()
    if overwritten is not None:
        session.reporter.report(out_of_bounds={"array": overwritten, "program": version.name})
        return False
    return session.is_right(version)


def time_version(session: Session, version: Program) -> None:
    """Alternate with the reference, the first of a pair changing from pair to pair."""
    session.reporter.phase(f"timing the version {version.name}")
    slow = session.request["slow_ratio"]
    for number in range(session.request["pairs"]):
        order = [session.candidate, version]
        if number % 2:
            order.reverse()
        seconds = {program.name: session.run(program)["wall_seconds"] for program in order}
        pair = [seconds[session.candidate.name], seconds[version.name]]
        session.reporter.report(pair=pair)
        if slow and pair[1] > slow * pair[0]:
            break


if __name__ == "__main__":
    run_session(judge_versions)
