"""What keeps a promise at each build: tests, import rules and recipes of the project's CI."""

_SERVER, _CLIENT, _PIPELINE = "server/tests", "client/tests", "pipeline/tests"
_NO_DATABASE = "lint-imports: Decoding and model code hold no database"
_NO_BUS = "lint-imports: The data endpoint is on no bus, keeps no blobs and knows nothing of the gateway"
_RETENTION, _REMOVALS = f"{_SERVER}/visits/test_retention.py", f"{_SERVER}/console/test_removals.py"
_RESULTS, _BLOBS = f"{_SERVER}/gateway/test_supplement_retention.py", f"{_SERVER}/gateway/test_supplement_blobs.py"
_TRIAL, _ERASURE = f"{_SERVER}/gateway/test_trial_token.py", f"{_SERVER}/metrics/test_erasure.py"
_PREVIOUS, _LOGS = f"{_SERVER}/compute/test_worker_memory.py", f"{_SERVER}/gateway/test_gateway_logs.py"
_SESSION_BYTES, _CONSOLE_LOG = f"{_SERVER}/bus/test_session_bytes.py", f"{_SERVER}/journey/test_console.py"
_ROUNDING, _ATTACK = f"{_SERVER}/metrics/test_slot_rounding.py", f"{_SERVER}/data/test_retention_attack.py"
_ROLES, _ACCOUNT = f"{_SERVER}/database_roles/test_queries_of_roles.py", f"{_SERVER}/console/test_account_removal.py"

BUILD_CHECKS: dict[str, tuple[str, ...]] = {
    "kept-agent-frame": (f"{_CLIENT}/test_agent_link.py",),
    "kept-local-feed": (f"{_CLIENT}/test_feed_audience.py", f"{_CLIENT}/test_feed_stream.py"),
    "kept-saved-video": (f"{_CLIENT}/test_preview_video.py",),
    "kept-device-journal": (f"{_CLIENT}/test_device_recorder.py", "just edge-privacy"),
    "kept-sync-frame": (_PREVIOUS, "just quiet"),
    "kept-previous-frame": (_PREVIOUS, f"{_SERVER}/compute/test_service_process.py"),
    "kept-async-frame": (_BLOBS,),
    "kept-blob": (_RESULTS, _BLOBS),
    "kept-session-results": (_RESULTS, _SESSION_BYTES),
    "kept-other-results": (_RESULTS,),
    "kept-session-states": (_SESSION_BYTES, "just session-bytes"),
    "kept-visits": (_RETENTION, f"{_SERVER}/visits/test_removal_bytes.py"),
    "kept-slot-totals": (_ROUNDING, _REMOVALS),
    "kept-device-coverage": (_RETENTION,),
    "kept-device-health": (f"{_SERVER}/devices/test_health.py",),
    "kept-put-aside": (_RETENTION,),
    "kept-erased-ranges": (_ERASURE,),
    "kept-trial-frames": (_TRIAL,),
    "kept-coverage": (_RETENTION, _REMOVALS),
    "kept-logs": (_LOGS,),
    "kept-hours-and-place": (_REMOVALS,),
    "kept-streams-and-usage": (_REMOVALS, f"{_SERVER}/console/test_removals_journey.py"),
    "account-address-and-password": (_ACCOUNT, f"{_SERVER}/console/test_passwords.py"),
    "account-second-factor": (f"{_SERVER}/console/test_second_factor.py", f"{_SERVER}/console/test_passkeys.py"),
    "account-security-events": (f"{_SERVER}/console/test_passkeys.py",),
    "account-provider-identity": (
        f"{_SERVER}/console/test_provider_admission.py",
        f"{_SERVER}/console/test_provider_settings.py",
    ),
    "account-session": (f"{_SERVER}/console/test_account_sessions.py", f"{_SERVER}/console/test_chores.py"),
    "account-sign-in-attempts": (f"{_SERVER}/console/test_sign_in_limits.py",),
    "account-token-requests": (f"{_SERVER}/console/test_token_limits.py",),
    "account-invitation": (f"{_SERVER}/console/test_members.py", f"{_SERVER}/console/test_members_invitation.py"),
    "account-membership": (f"{_SERVER}/console/test_members.py", _REMOVALS),
    "account-audit-log": (f"{_SERVER}/audit/test_audit_log.py", f"{_SERVER}/audit/test_audit_readings.py"),
    "account-notices": (f"{_SERVER}/console/test_notice_history.py", f"{_SERVER}/console/test_public_page.py"),
    "account-stripe-ids": (f"{_SERVER}/console/test_billing_end.py", f"{_SERVER}/console/test_chores.py"),
    "account-stripe-record": (f"{_SERVER}/console/test_billing_end.py",),
    "account-e-mails": (f"{_SERVER}/console/test_signup.py",),
    "account-logs": (_CONSOLE_LOG, f"{_SERVER}/console/test_request_log.py"),
    "frames-only-in-memory": (_PREVIOUS, _NO_DATABASE),
    "two-short-exceptions": (_BLOBS, _RESULTS),
    "device-keeps-no-frames": (f"{_CLIENT}/test_agent_link.py", "just edge-privacy"),
    "sending-device-knows-nothing": ("lint-imports: Only the client's computing process loads the pipeline",),
    "device-reveals-no-password": (f"{_CLIENT}/test_sdk_config.py", f"{_CLIENT}/test_source_kinds.py"),
    "frames-over-https": (f"{_CLIENT}/test_sdk_connection.py", f"{_CLIENT}/test_sdk_certificates.py"),
    "no-frame-in-log": (_LOGS,),
    "no-frame-in-core-dump": (f"{_SERVER}/journey/test_up.py",),
    "no-frame-in-result": (f"{_SERVER}/gateway/test_supplement_results.py",),
    "one-picture-in-memory": (_PREVIOUS, f"{_SERVER}/compute/test_service_process.py"),
    "states-only-numbers": (f"{_PIPELINE}/scene/test_scene_state.py", f"{_PIPELINE}/test_scene_session.py"),
    "states-leave-the-disk": (_SESSION_BYTES, "just session-bytes"),
    "visits-times-and-estimates": (f"{_SERVER}/visits/test_visit_tables.py", f"{_PIPELINE}/scene/test_scene_state.py"),
    "visit-leads-to-no-recording": (f"{_PIPELINE}/scene/test_entities.py", f"{_SERVER}/visits/test_session_end.py"),
    "range-can-be-erased": (_ERASURE, f"{_SERVER}/console/test_erasure_page.py"),
    "changes-and-reads-are-known": (f"{_SERVER}/audit/test_audit_log.py", f"{_SERVER}/audit/test_audit_chain.py"),
    "switched-off-not-computed": (
        f"{_PIPELINE}/services/test_face_services.py",
        f"{_SERVER}/gateway/test_scene_switches.py",
    ),
    "counts-only-no-face": (f"{_PIPELINE}/test_counts_only.py",),
    "closed-computes-nothing": (
        f"{_SERVER}/gateway/test_opening_hours_gateway.py",
        f"{_CLIENT}/test_agent_lifecycle.py",
    ),
    "visits-deleted-on-time": (_RETENTION, f"{_SERVER}/visits/test_partitions.py"),
    "only-totals-stay": (_ROUNDING, _ATTACK),
    "groups-only": (f"{_SERVER}/metrics/test_blocks.py", "just differences"),
    "only-numbers-published": (f"{_SERVER}/data/test_data_interface.py", "just fuzz-data"),
    "worker-knows-no-secrets": (f"{_SERVER}/journey/test_up.py", f"{_SERVER}/bus/test_roles.py", "just takeover"),
    "trial-leaves-nothing": (_TRIAL, f"{_SERVER}/console/test_try_page.py"),
    "strangers-look-up-nothing": (f"{_SERVER}/gateway/test_matrix.py",),
    "credentials-not-in-plain-text": (f"{_SERVER}/console/test_second_factor.py", f"{_SERVER}/console/test_keys.py"),
    "token-for-one-stream": (f"{_SERVER}/streams/test_bearer_tokens.py", "just fuzz-data"),
    "data-endpoint-sees-no-frames": (_NO_BUS, _ROLES),
    "console-sees-no-frames": (f"{_SERVER}/console/test_staff.py", _ROLES),
    "little-known-of-holders": (_ACCOUNT, _CONSOLE_LOG),
    "removed-means-removed": (_REMOVALS, f"{_SERVER}/visits/test_removal_bytes.py"),
    "dependencies-send-nothing": ("just quiet",),
    "pages-contact-nobody": (f"{_SERVER}/console/test_deployment.py", f"{_SERVER}/console/test_look.py"),
    "nobody-is-identified": (f"{_SERVER}/proof/test_model_outputs.py",),
    "models-learn-nothing": (f"{_SERVER}/compute/test_networks.py",),
}
"""By promise. Each is a test's path in the repository, a recipe such as `just quiet`, or `lint-imports: <contract>`."""
