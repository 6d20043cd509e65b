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

variable "token_encryption_mode" {
  type        = string
  description = "encrypted for a new table; bridge while older builds read it"
  default     = "encrypted"

  validation {
    condition     = contains(["encrypted", "bridge"], var.token_encryption_mode)
    error_message = "It is none of the values."
  }
}

variable "table_name" {
  type        = string
  description = "The table's name. What is sealed in it opens under this name and in this region only."
  default     = "mcp-server-tokens"

  validation {
    condition     = can(regex("^[A-Za-z0-9_.-]{3,255}$", var.table_name))
    error_message = "It does not match ^[A-Za-z0-9_.-]{3,255}$"
  }
}

variable "key_alias" {
  type        = string
  description = "The alias of the key"
  default     = "alias/mcp-server-tokens"

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
    enabled     = true
    kms_key_arn = aws_kms_key.key.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_kms_key" "key" {
  description             = "Seals the tokens of an MCP server, and encrypts their table."
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
              "kms:EncryptionContext:purpose"     = ["token-store", "server-key"]
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
              "kms:EncryptionContext:purpose"     = ["token-store", "server-key"]
              "kms:EncryptionContext:environment" = "${data.aws_region.current.region}"
              "kms:EncryptionContext:table"       = "${var.table_name}"
            }
          }
        },
      ] : [],
      [
        {
          Sid    = "TheTableThroughDynamoDB"
          Effect = "Allow"
          Action = [
            "kms:Encrypt",
            "kms:Decrypt",
            "kms:ReEncrypt*",
            "kms:GenerateDataKey*",
            "kms:CreateGrant",
            "kms:DescribeKey",
          ]
          Resource = "*"
          Principal = {
            AWS = "*"
          }
          Condition = {
            StringEquals = {
              "kms:CallerAccount" = data.aws_caller_identity.current.account_id
              "kms:ViaService"    = "dynamodb.${data.aws_region.current.region}.${data.aws_partition.current.dns_suffix}"
            }
          }
        },
      ],
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
        Sid    = "Table"
        Effect = "Allow"
        Action = [
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:UpdateItem",
          "dynamodb:DeleteItem",
          "dynamodb:Query",
        ]
        Resource = aws_dynamodb_table.table.arn
      },
      {
        Sid      = "Key"
        Effect   = "Allow"
        Action   = ["kms:GenerateDataKey", "kms:Decrypt"]
        Resource = aws_kms_key.key.arn
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:purpose"     = ["token-store", "server-key"]
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

resource "aws_iam_policy" "operator_policy" {
  description = "The commands links and token-store, which read the whole table. Not for the task."
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Table"
        Effect = "Allow"
        Action = [
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:UpdateItem",
          "dynamodb:DeleteItem",
          "dynamodb:Query",
          "dynamodb:Scan",
        ]
        Resource = aws_dynamodb_table.table.arn
      },
      {
        Sid      = "Key"
        Effect   = "Allow"
        Action   = ["kms:GenerateDataKey", "kms:Decrypt"]
        Resource = aws_kms_key.key.arn
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:purpose"     = ["token-store", "server-key"]
            "kms:EncryptionContext:environment" = "${data.aws_region.current.region}"
            "kms:EncryptionContext:table"       = "${var.table_name}"
          }
        }
      },
    ]
  })
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
    id          = "errors3"
    return_data = false

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      dimensions = {
        TableName = aws_dynamodb_table.table.name
        Operation = "DeleteItem"
      }
      stat   = "Sum"
      period = 60
    }
  }

  metric_query {
    id          = "errors4"
    return_data = false

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      dimensions = {
        TableName = aws_dynamodb_table.table.name
        Operation = "Query"
      }
      stat   = "Sum"
      period = 60
    }
  }

  metric_query {
    id          = "total"
    expression  = "SUM([FILL(errors0, 0), FILL(errors1, 0), FILL(errors2, 0), FILL(errors3, 0), FILL(errors4, 0)])"
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
  alarm_description   = "not ready: /readyz fails for 1 min. Look at: lines with level error: store or key service"
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
        job    = "mcp-server"
        route  = "/readyz"
        status = "503"
      }
      stat   = "Sum"
      period = 60
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_a_bug_in_a_tool" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterABugInATool"
  alarm_description   = "a bug in a tool: any outcome=\"tool_failed\". Look at: the line with the reference_id the model got, or tool_rejection with the tool's name"
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
      metric_name = "mcp_tool_calls_total"
      dimensions = {
        job     = "mcp-server"
        outcome = "tool_failed"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_vendor_down" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterVendorDown"
  alarm_description   = "vendor down: rate(mcp_vendor_calls_total{outcome=\"temporarily_unavailable\"}[5m]) or status=\"none\" above normal. Look at: the vendor's status page; later calls recover without action"
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
      metric_name = "mcp_vendor_calls_total"
      dimensions = {
        job     = "mcp-server"
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

resource "aws_cloudwatch_metric_alarm" "counter_vendor_down2" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterVendorDown2"
  alarm_description   = "vendor down: rate(mcp_vendor_calls_total{outcome=\"temporarily_unavailable\"}[5m]) or status=\"none\" above normal. Look at: the vendor's status page; later calls recover without action"
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
      metric_name = "mcp_vendor_api_answers_total"
      dimensions = {
        job    = "mcp-server"
        status = "none"
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
  alarm_description   = "vendor credentials invalid: any outcome=\"vendor_credentials_rejected\". Look at: your client at the vendor"
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
      metric_name = "mcp_vendor_calls_total"
      dimensions = {
        job     = "mcp-server"
        outcome = "vendor_credentials_rejected"
      }
      stat   = "Sum"
      period = 300
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "counter_grants_die" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterGrantsDie"
  alarm_description   = "grants die: rate(mcp_vendor_calls_total{operation=\"refresh\",outcome=\"invalid_grant\"}[1h]) above normal. Look at: did the vendor revoke your client's grants, or another release refresh them?"
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
      metric_name = "mcp_vendor_calls_total"
      dimensions = {
        job       = "mcp-server"
        operation = "refresh"
        outcome   = "invalid_grant"
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

resource "aws_cloudwatch_metric_alarm" "counter_attack_or_a_broken_client" {
  count               = local.has_metrics ? 1 : 0
  alarm_name          = "${var.table_name}-CounterAttackOrABrokenClient"
  alarm_description   = "attack, or a broken client: mcp_refusals_total above normal. Look at: reason"
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
      metric_name = "mcp_refusals_total"
      dimensions = {
        job = "mcp-server"
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

output "db_table_name" {
  description = "DB_TABLE_NAME"
  value       = aws_dynamodb_table.table.name
}

output "db_table_region" {
  description = "DB_TABLE_REGION"
  value       = data.aws_region.current.region
}

output "token_encryption_kms_key_id" {
  description = "TOKEN_ENCRYPTION_KMS_KEY_ID"
  value       = aws_kms_key.key.arn
}

output "token_encryption_mode" {
  description = "TOKEN_ENCRYPTION_MODE"
  value       = var.token_encryption_mode
}

output "operator_policy_arn" {
  description = "A policy for the role of those who run links and token-store; key_user_arns names that role too"
  value       = aws_iam_policy.operator_policy.arn
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
