# Generated. Remake: npm run docs
terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0"
    }
  }
}

data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

data "aws_region" "current" {}

variable "base_url" {
  type        = string
  description = "base_url of the broker's configuration, byte for byte. The keys are bound to it."

  validation {
    condition     = can(regex("^https://[^/?#@A-Z ]+$", var.base_url))
    error_message = "It does not match ^https://[^/?#@A-Z ]+$"
  }
}

variable "table_name" {
  type        = string
  description = "The table's name. What is sealed in it opens under this name and in this region only."
  default     = "oauth-broker"

  validation {
    condition     = can(regex("^[A-Za-z0-9_.-]{3,255}$", var.table_name))
    error_message = "It does not match ^[A-Za-z0-9_.-]{3,255}$"
  }
}

variable "key_alias" {
  type        = string
  description = "The alias of the key"
  default     = "alias/oauth-broker"

  validation {
    condition     = can(regex("^alias/[A-Za-z0-9/_-]{1,250}$", var.key_alias)) && !startswith(var.key_alias, "alias/aws/")
    error_message = "It does not match ^alias/(?!aws/)[A-Za-z0-9/_-]{1,250}$"
  }
}

variable "key_user_arns" {
  type        = list(string)
  description = "ARNs of roles beside that of the task that may use the key as it does: of a process elsewhere than in ECS, of those who run commands"
  default     = []
}

variable "alarm_topic_arn" {
  type        = string
  description = "An SNS topic that alarms are sent to. Empty: alarms are shown in CloudWatch only."
  default     = ""
}

variable "metrics_namespace" {
  type        = string
  description = "The namespace to which the CloudWatch agent sends the counters of /metrics (cloudwatch-agent.json: OAuthBroker). Empty: no alarms of these counters."
  default     = ""
}

locals {
  has_alarm_topic = var.alarm_topic_arn != ""
  has_key_users   = join("", var.key_user_arns) != ""
  has_metrics     = var.metrics_namespace != ""
}

resource "aws_dynamodb_table" "table" {
  name                        = var.table_name
  hash_key                    = "pk"
  range_key                   = "sk"
  billing_mode                = "PAY_PER_REQUEST"
  deletion_protection_enabled = true

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_kms_key" "key" {
  description             = "Seals the keys of the broker in its table."
  enable_key_rotation     = true
  rotation_period_in_days = 365
  deletion_window_in_days = 30
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid    = "Administration"
          Effect = "Allow"
          Action = [
            "kms:Describe*",
            "kms:Get*",
            "kms:List*",
            "kms:Enable*",
            "kms:Disable*",
            "kms:Update*",
            "kms:PutKeyPolicy",
            "kms:CreateAlias",
            "kms:DeleteAlias",
            "kms:RevokeGrant",
            "kms:RotateKeyOnDemand",
            "kms:ScheduleKeyDeletion",
            "kms:CancelKeyDeletion",
            "kms:TagResource",
            "kms:UntagResource",
          ]
          Resource = "*"
          Principal = {
            AWS = "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:root"
          }
        },
        {
          Sid      = "Task"
          Effect   = "Allow"
          Action   = ["kms:GenerateDataKey", "kms:Decrypt"]
          Resource = "*"
          Principal = {
            AWS = aws_iam_role.task_role.arn
          }
          Condition = {
            StringEquals = {
              "kms:EncryptionContext:purpose"     = "keyset"
              "kms:EncryptionContext:base_url"    = "${var.base_url}"
              "kms:EncryptionContext:environment" = "${data.aws_region.current.region}"
              "kms:EncryptionContext:table"       = "${var.table_name}"
            }
          }
        },
      ],
      local.has_key_users ? [
        {
          Sid      = "KeyUsers"
          Effect   = "Allow"
          Action   = ["kms:GenerateDataKey", "kms:Decrypt"]
          Resource = "*"
          Principal = {
            AWS = var.key_user_arns
          }
          Condition = {
            StringEquals = {
              "kms:EncryptionContext:purpose"     = "keyset"
              "kms:EncryptionContext:base_url"    = "${var.base_url}"
              "kms:EncryptionContext:environment" = "${data.aws_region.current.region}"
              "kms:EncryptionContext:table"       = "${var.table_name}"
            }
          }
        },
      ] : [],
    )
  })

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_kms_alias" "alias" {
  name          = var.key_alias
  target_key_id = aws_kms_key.key.key_id
}

resource "aws_iam_role" "task_role" {
  description = "What the process may do on AWS, as a task of ECS."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "ecs-tasks.amazonaws.com"
        }
        Action = "sts:AssumeRole"
        Condition = {
          StringEquals = {
            "aws:SourceAccount" = data.aws_caller_identity.current.account_id
          }
        }
      },
    ]
  })
}

resource "aws_iam_policy" "task_policy" {
  description = "Exactly the calls that the process makes: its table and its key."
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "Table"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
        Resource = aws_dynamodb_table.table.arn
      },
      {
        Sid      = "Key"
        Effect   = "Allow"
        Action   = ["kms:GenerateDataKey", "kms:Decrypt"]
        Resource = aws_kms_key.key.arn
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:purpose"     = "keyset"
            "kms:EncryptionContext:base_url"    = "${var.base_url}"
            "kms:EncryptionContext:environment" = "${data.aws_region.current.region}"
            "kms:EncryptionContext:table"       = "${var.table_name}"
          }
        }
      },
    ]
  })
}

resource "aws_iam_role_policy_attachment" "task_policy" {
  role       = aws_iam_role.task_role.name
  policy_arn = aws_iam_policy.task_policy.arn
}

resource "aws_cloudwatch_metric_alarm" "table_throttled" {
  alarm_name          = "${var.table_name}-TableThrottled"
  alarm_description   = "Requests to the table are throttled: they wait, then fail with 503. Look at the account's limits."
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 3
  datapoints_to_alarm = 2
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "reads"
    return_data = false

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ReadThrottleEvents"
      dimensions = {
        TableName = aws_dynamodb_table.table.name
      }
      stat   = "Sum"
      period = 60
    }
  }

  metric_query {
    id          = "writes"
    return_data = false

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "WriteThrottleEvents"
      dimensions = {
        TableName = aws_dynamodb_table.table.name
      }
      stat   = "Sum"
      period = 60
    }
  }

  metric_query {
    id          = "total"
    expression  = "SUM([FILL(reads, 0), FILL(writes, 0)])"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "table_fails" {
  alarm_name          = "${var.table_name}-TableFails"
  alarm_description   = "DynamoDB answers with errors of its own: legs are answered with 503 and recover by themselves."
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5
  evaluation_periods  = 3
  datapoints_to_alarm = 2
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "errors0"
    return_data = false

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      dimensions = {
        TableName = aws_dynamodb_table.table.name
        Operation = "GetItem"
      }
      stat   = "Sum"
      period = 60
    }
  }

  metric_query {
    id          = "errors1"
    return_data = false

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      dimensions = {
        TableName = aws_dynamodb_table.table.name
        Operation = "PutItem"
      }
      stat   = "Sum"
      period = 60
    }
  }

  metric_query {
    id          = "errors2"
    return_data = false

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      dimensions = {
        TableName = aws_dynamodb_table.table.name
        Operation = "UpdateItem"
      }
      stat   = "Sum"
      period = 60
    }
  }

  metric_query {
    id          = "total"
    expression  = "SUM([FILL(errors0, 0), FILL(errors1, 0), FILL(errors2, 0)])"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "table_slow" {
  alarm_name        = "${var.table_name}-TableSlow"
  alarm_description = "The slowest hundredth of writes to the table takes more than 100 ms."
  namespace         = "AWS/DynamoDB"
  metric_name       = "SuccessfulRequestLatency"
  dimensions = {
    TableName = aws_dynamodb_table.table.name
    Operation = "UpdateItem"
  }
  extended_statistic  = "p99"
  period              = 60
  comparison_operator = "GreaterThanThreshold"
  threshold           = 100
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null
}

resource "aws_cloudwatch_metric_alarm" "counter_not_ready" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterNotReady"
  alarm_description   = "not ready: /readyz fails for 1 min. Look at: keyset_unavailable and error lines: store, key file or KMS; detail says what to do"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 2
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "http_requests_total"
      dimensions = {
        job    = "oauth-broker"
        route  = "/readyz"
        status = "503"
      }
      stat   = "Sum"
      period = 60
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_the_keys_cannot_be_read" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterTheKeysCannotBeRead"
  alarm_description   = "the keys cannot be read: any broker_keyset_failures_total. Look at: keyset_unavailable in the log: detail says what to do. A process that has the keys keeps serving, and cannot be restarted"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "broker_keyset_failures_total"
      dimensions = {
        job = "oauth-broker"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_nothing_can_be_recorded" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterNothingCanBeRecorded"
  alarm_description   = "nothing can be recorded: any broker_refusals_total{reason=\"audit_unavailable\"}. Look at: the disk and folder of the audit stream; it recovers by itself"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "broker_refusals_total"
      dimensions = {
        job    = "oauth-broker"
        reason = "audit_unavailable"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_a_bug_in_the_broker" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterABugInTheBroker"
  alarm_description   = "a bug in the broker: any http_requests_total{status=\"500\"}. Look at: the line with the reference_id of the response"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "http_requests_total"
      dimensions = {
        job    = "oauth-broker"
        status = "500"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_vendor_down" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterVendorDown"
  alarm_description   = "vendor down: rate(broker_vendor_calls_total{outcome=\"temporarily_unavailable\"}[5m]) above normal. Look at: the vendor's status page; later calls recover without action"
  comparison_operator = "GreaterThanUpperThreshold"
  threshold_metric_id = "normal"
  evaluation_periods  = 2
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "broker_vendor_calls_total"
      dimensions = {
        job     = "oauth-broker"
        outcome = "temporarily_unavailable"
      }
      stat   = "Sum"
      period = 300
    }
  }

  metric_query {
    id          = "normal"
    expression  = "ANOMALY_DETECTION_BAND(events, 3)"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_vendor_credentials_invalid" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterVendorCredentialsInvalid"
  alarm_description   = "vendor credentials invalid: any outcome=\"vendor_credentials_rejected\". Look at: credentials_id in the log; rotate at the vendor"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "broker_vendor_calls_total"
      dimensions = {
        job     = "oauth-broker"
        outcome = "vendor_credentials_rejected"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_vendors_responses_changed" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterVendorsResponsesChanged"
  alarm_description   = "vendor's responses changed: any outcome=\"vendor_response_invalid\". Look at: detail in the log; endpoint_mismatch: an MCP server has moved, and npm run vendor -- probe ID says where"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "broker_vendor_calls_total"
      dimensions = {
        job     = "oauth-broker"
        outcome = "vendor_response_invalid"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_attack_or_a_broken_client" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterAttackOrABrokenClient"
  alarm_description   = "attack, or a broken client: broker_refusals_total{leg=\"callback\"} above normal. Look at: reason: a wrong state, another browser, issuer_mismatch"
  comparison_operator = "GreaterThanUpperThreshold"
  threshold_metric_id = "normal"
  evaluation_periods  = 2
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "broker_refusals_total"
      dimensions = {
        job = "oauth-broker"
        leg = "callback"
      }
      stat   = "Sum"
      period = 300
    }
  }

  metric_query {
    id          = "normal"
    expression  = "ANOMALY_DETECTION_BAND(events, 3)"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_guessing" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterGuessing"
  alarm_description   = "guessing: http_requests_total{status=\"401\"} above normal. Look at: client_id and address at the proxy"
  comparison_operator = "GreaterThanUpperThreshold"
  threshold_metric_id = "normal"
  evaluation_periods  = 2
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "http_requests_total"
      dimensions = {
        job    = "oauth-broker"
        status = "401"
      }
      stat   = "Sum"
      period = 300
    }
  }

  metric_query {
    id          = "normal"
    expression  = "ANOMALY_DETECTION_BAND(events, 3)"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_a_client_above_its_limit" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterAClientAboveItsLimit"
  alarm_description   = "a client above its limit: any http_requests_total{status=\"429\"}. Look at: client_id in the log; the route says which limit: limits.par_per_minute, explain_per_minute or, for token, revoke, check and register, vendor_calls_per_minute"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.has_alarm_topic ? [var.alarm_topic_arn] : null
  ok_actions          = local.has_alarm_topic ? [var.alarm_topic_arn] : null

  metric_query {
    id          = "events"
    return_data = true

    metric {
      namespace   = var.metrics_namespace
      metric_name = "http_requests_total"
      dimensions = {
        job    = "oauth-broker"
        status = "429"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

output "store" {
  description = "store in broker.yaml, or STORE"
  value       = "dynamodb:${aws_dynamodb_table.table.name}?region=${data.aws_region.current.region}"
}

output "keys" {
  description = "keys in broker.yaml"
  value       = "kms:arn:${data.aws_partition.current.partition}:kms:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${var.key_alias}"
}

output "task_role_arn" {
  description = "The role of the task, taskRoleArn of an ECS task definition"
  value       = aws_iam_role.task_role.arn
}

output "task_policy_arn" {
  description = "Its policy, for a role of your own elsewhere than in ECS"
  value       = aws_iam_policy.task_policy.arn
}

output "table_arn" {
  description = "The table, for backups"
  value       = aws_dynamodb_table.table.arn
}

output "key_arn" {
  description = "The key"
  value       = aws_kms_key.key.arn
}
